#include "nn/weight_files.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/json_text.h"

namespace gradus::nn {

using Json = nlohmann::json;
using Path = std::filesystem::path;

// A long list helps nobody, and a hostile file must not make one.
class Differences {
 public:
  template <class... Arguments>
  void add(std::string_view rule, const Arguments&... arguments) {
    if (++count_ <= most) text_ += "\n  " + message(rule, arguments...);
  }
  void throw_if_any(const std::string& title) const {
    if (count_ == 0) return;
    throw FileError(title + text_ + (count_ > most ? message("\n  … and {} more", count_ - most) : ""));
  }

 private:
  static constexpr std::size_t most = 200;
  std::string text_;
  std::size_t count_ = 0;
};

static std::map<std::string, std::string> read_index(const Path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string file = path.string(), text((std::istreambuf_iterator<char>(stream)), {});
  const Json json = parse_json(text);
  expect<FileError>(json.is_object() && json.contains("weight_map") && json["weight_map"].is_object(),
                    "{}: expected a JSON object with a weight_map, an object with each tensor's file", file);
  std::map<std::string, std::string> index;
  for (const auto& [name, shard] : json["weight_map"].items()) {
    expect<FileError>(shard.is_string(), "{}: tensor \"{}\": expected the name of a file, found {}", file, name,
                      shard.type_name());
    const auto plain = shard.get<std::string>();
    const bool is_plain = plain.find_first_of(std::string("/\\\0", 3)) == plain.npos;
    expect<FileError>(is_plain && !plain.empty() && plain != "." && plain != "..",
                      "{}: tensor \"{}\": expected the plain name of a file beside the index, found {}", file, name,
                      shard.dump());
    index.emplace(name, plain);
  }
  return index;
}

void WeightFiles::add(const SafetensorsFile& file) {
  for (const std::string& name : file.names()) place_.emplace(name, files_.size());
  files_.push_back(file);
}

WeightFiles::WeightFiles(const Path& folder) : path_(folder / "model.safetensors") {
  const Path index_path = folder / "model.safetensors.index.json";
  if (std::filesystem::exists(path_) || !std::filesystem::exists(index_path)) {
    add(SafetensorsFile(path_));
    return;
  }
  path_ = index_path;
  const std::map<std::string, std::string> index = read_index(path_);
  std::set<std::string> shards;
  for (const auto& item : index) shards.insert(item.second);
  Differences differences;
  for (const std::string& shard : shards) {
    const SafetensorsFile file(folder / shard);
    for (const std::string& name : file.names())
      if (const auto found = index.find(name); found == index.end())
        differences.add("{} in {} is not in the index", name, shard);
      else if (found->second != shard)
        differences.add("{} is in {}, the index says {}", name, shard, found->second);
    for (const auto& [name, place] : index)
      if (place == shard && !file.contains(name)) differences.add("{} is missing in {}", name, shard);
    add(file);
  }
  differences.throw_if_any(path_.string() + ": does not fit its files:");
}

std::vector<std::string> WeightFiles::names() const {
  std::vector<std::string> names;
  for (const auto& item : place_) names.push_back(item.first);
  return names;
}

const SafetensorsFile& WeightFiles::file_of(const std::string& name) const {
  const auto found = place_.find(name);
  expect<FileError>(found != place_.end(), "{}: tensor \"{}\": there is none of this name among its {}", path_.string(),
                    name, size());
  return files_[found->second];
}

void expect_tensors(const WeightFiles& files, const std::vector<ParameterCount>& table, const Path& config,
                    const std::function<std::string(const std::string&)>& name_of,
                    const std::function<bool(const std::string&)>& ignored) {
  for (const ParameterCount& row : table)
    expect<FileError>(row.copies <= 2 * files.size() + 1000, "{}: has {} tensors, and {} asks for {} layers; they do "
                      "not belong together", files.path().string(), files.size(), config.string(), row.copies);

  Differences differences;
  std::set<std::string> known;
  for (const ParameterCount& row : table)
    for (std::size_t layer = 0; layer < row.copies; ++layer) {
      std::string ours = row.name;
      const std::size_t place = ours.find(".N.");
      if (place != ours.npos) ours.replace(place + 1, 1, std::to_string(layer));
      const std::string name = name_of(ours);
      known.insert(name);
      if (!files.contains(name))
        differences.add("{} {} is missing", name, row.shape);
      else if (files.shape(name) != row.shape)
        differences.add("{} is {}, the config makes it {}", name, files.shape(name), row.shape);
    }
  for (const std::string& name : files.names())
    if (!known.contains(name) && !ignored(name)) differences.add("{} {} is unexpected", name, files.shape(name));
  differences.throw_if_any(message("{}: does not fit {}:", files.path().string(), config.string()));
}

}  // namespace gradus::nn
