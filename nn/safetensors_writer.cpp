#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "autograd/error.h"
#include "nn/atomic_file.h"
#include "nn/half_float.h"
#include "nn/safetensors.h"
#include "nn/words.h"

namespace gradus::nn {

using Json = nlohmann::json;
using Path = std::filesystem::path;

static constexpr std::array formats = {Word{FloatFormat::f32, "f32"}, Word{FloatFormat::f64, "f64"},
                                       Word{FloatFormat::f16, "f16"}, Word{FloatFormat::bf16, "bf16"}};

std::string_view word_of(FloatFormat format) { return word_in(formats, format); }
void from_word(std::string_view word, FloatFormat& format) { choose("format of numbers", formats, word, format); }

static std::string dtype_of(FloatFormat format) {
  std::string dtype(word_of(format));
  std::ranges::transform(dtype, dtype.begin(), [](char c) { return c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c; });
  return dtype;
}

static std::uint64_t bytes_of(FloatFormat format) {
  return format == FloatFormat::f64 ? 8 : format == FloatFormat::f32 ? 4 : 2;
}

template <class Stored, class Convert>
static void write_through(AtomicFile& file, std::span<const Real> values, const Convert& convert) {
  std::array<Stored, 4096> part;
  for (std::size_t done = 0; done < values.size(); done += part.size()) {
    const std::size_t count = std::min(part.size(), values.size() - done);
    for (std::size_t i = 0; i < count; ++i) part[i] = convert(values[done + i]);
    file.write(part.data(), count * sizeof(Stored));
  }
}

template <class Stored>
static void write_as(AtomicFile& file, std::span<const Real> values) {
  if constexpr (std::is_same_v<Stored, Real>)
    file.write(values.data(), values.size_bytes());
  else
    write_through<Stored>(file, values, [](Real value) { return static_cast<Stored>(value); });
}

static void write_numbers(AtomicFile& file, std::span<const Real> values, FloatFormat format) {
  switch (format) {
    case FloatFormat::f32: return write_as<float>(file, values);
    case FloatFormat::f64: return write_as<double>(file, values);
    case FloatFormat::f16:
      return write_through<std::uint16_t>(file, values, [](Real value) { return to_f16(static_cast<float>(value)); });
    case FloatFormat::bf16:
      return write_through<std::uint16_t>(file, values, [](Real value) { return to_bf16(static_cast<float>(value)); });
  }
}

// A weight that the format turned into infinity would be a broken model.
static void check_range(const Path& path, const std::string& name, std::span<const Real> values, FloatFormat format) {
  if (format == FloatFormat::f64 || format == exact_format) return;
  const double limit = format == FloatFormat::f16 ? 65504 : std::numeric_limits<float>::max();
  const auto rounded = [&](Real value) {
    const auto number = static_cast<float>(value);
    if (format == FloatFormat::f16) return from_f16(to_f16(number));
    return format == FloatFormat::bf16 ? from_bf16(to_bf16(number)) : number;
  };
  for (const Real value : values)
    expect<FileError>(!std::isfinite(value) || std::isfinite(rounded(value)), "{}: tensor \"{}\": {} is too large for "
                      "{}, whose numbers end at {}; write f32", path.string(), name, value, word_of(format), limit);
}

static std::string header_of(const Path& path, const std::map<std::string, Tensor>& tensors,
                             const std::map<std::string, std::string>& metadata, FloatFormat format) {
  Json json = Json::object();
  json[safetensors_metadata_key] = metadata;
  json[safetensors_metadata_key]["format"] = "pt";
  std::uint64_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::uint64_t begin = end;
    end += tensor.size() * bytes_of(format);
    const std::vector<std::size_t> extents(tensor.shape().begin(), tensor.shape().end());
    json[name] = {{"dtype", dtype_of(format)}, {"shape", extents}, {"data_offsets", {begin, end}}};
  }
  std::string header;
  try {
    header = json.dump();
  } catch (const Json::exception& error) {
    throw FileError(message("{}: a name or the metadata is not UTF-8: {}", path.string(), error.what()));
  }
  header.resize((header.size() + 7) / 8 * 8, ' ');  // so that the numbers are aligned
  expect<FileError>(header.size() <= safetensors_max_header, "{}: names and metadata need {} bytes, at most {} can be "
                    "read back", path.string(), header.size(), safetensors_max_header);
  return header;
}

void write_safetensors(const Path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata, FloatFormat format) {
  std::map<std::string, Tensor> sorted;
  for (const auto& [name, tensor] : tensors) {
    expect<FileError>(!name.empty() && name != safetensors_metadata_key,
                      "{}: tensor \"{}\": this name cannot be written; choose another", path.string(), name);
    expect<FileError>(sorted.emplace(name, tensor).second, "{}: tensor \"{}\": two tensors have this name",
                      path.string(), name);
    check_range(path, name, tensor.values(), format);
  }
  const std::string header = header_of(path, sorted, metadata, format);
  const std::uint64_t length = header.size();

  AtomicFile file(path);
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const auto& item : sorted) write_numbers(file, item.second.values(), format);
  file.commit();
}

}  // namespace gradus::nn
