#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <vector>

#include "autograd/error.h"
#include "nn/atomic_file.h"
#include "nn/safetensors.h"

namespace gradus::nn {

using Json = nlohmann::json;
using Path = std::filesystem::path;

static void write_numbers(AtomicFile& file, std::span<const Real> values) {
  if constexpr (std::is_same_v<Real, float>) {
    file.write(values.data(), values.size_bytes());
  } else {
    std::array<float, 4096> part;
    for (std::size_t done = 0; done < values.size(); done += part.size()) {
      const std::size_t count = std::min(part.size(), values.size() - done);
      for (std::size_t i = 0; i < count; ++i) part[i] = static_cast<float>(values[done + i]);
      file.write(part.data(), count * sizeof(float));
    }
  }
}

void write_safetensors(const Path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::map<std::string, Tensor> sorted;
  for (const auto& [name, tensor] : tensors) {
    expect<FileError>(!name.empty() && name != safetensors_metadata_key,
                      "{}: tensor \"{}\": this name cannot be written; choose another", path.string(), name);
    expect<FileError>(sorted.emplace(name, tensor).second, "{}: tensor \"{}\": two tensors have this name", path.string(), name);
  }

  Json json = Json::object();
  json[safetensors_metadata_key] = metadata;
  json[safetensors_metadata_key]["format"] = "pt";
  std::uint64_t end = 0;
  for (const auto& [name, tensor] : sorted) {
    const std::uint64_t begin = end;
    end += tensor.size() * sizeof(float);
    const std::vector<std::size_t> extents(tensor.shape().begin(), tensor.shape().end());
    json[name] = {{"dtype", "F32"}, {"shape", extents}, {"data_offsets", {begin, end}}};
  }

  std::string header;
  try {
    header = json.dump();
  } catch (const Json::exception& error) {
    throw FileError(message("{}: a name or the metadata is not UTF-8: {}", path.string(), error.what()));
  }
  header.resize((header.size() + 7) / 8 * 8, ' ');  // so that the numbers are aligned
  const std::uint64_t length = header.size();
  expect<FileError>(length <= safetensors_max_header, "{}: names and metadata need {} bytes, at most {} can be read back",
                    path.string(), length, safetensors_max_header);

  AtomicFile file(path);
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const auto& item : sorted) write_numbers(file, item.second.values());
  file.commit();
}

}  // namespace gradus::nn
