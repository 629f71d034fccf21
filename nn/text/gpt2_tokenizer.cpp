#include "nn/text/gpt2_tokenizer.h"

#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/text/byte_alphabet.h"
#include "nn/text/text_file.h"
#include "nn/text/tokenizer_json.h"

namespace gradus::nn {

using Path = std::filesystem::path;
using Ids = std::unordered_map<std::string, int>;

static Ids read_vocabulary(const Path& path, BpeModel& model) {
  const std::string file = path.string();
  const nlohmann::json entries = parse_tokenizer_json(read_text_file(path, "a vocabulary"), file);
  model.spellings.resize(entries.size());
  Ids ids;
  for (const auto& [spelling, value] : entries.items()) {
    if (!value.is_number_unsigned() || value >= entries.size() || spelling.empty() ||
        !model.spellings[value.get<std::size_t>()].empty())
      throw FileError(message("{}: expected {} tokens to have the ids 0 to {}, each once, found {} with {}", file,
                              entries.size(), entries.size() - 1, json_string(spelling), shown(value)));
    model.spellings[value.get<std::size_t>()] = spelling;
    ids.emplace(spelling, value.get<int>());
  }
  return ids;
}

static void read_merges(const Path& path, const Ids& ids, BpeModel& model) {
  const std::string text = read_text_file(path, "a list of merges");
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    const std::size_t space = std::min(line.find(' '), line.size());
    const auto left = ids.find(line.substr(0, space));
    const auto right = space < line.size() ? ids.find(line.substr(space + 1)) : ids.end();
    expect<FileError>(left != ids.end() && right != ids.end(),
                      "{}: expected two tokens of the vocabulary in line {}, found \"{}\"", path.string(), number,
                      line.substr(0, 200));
    model.merges.emplace_back(left->second, right->second);
  }
}

static void find_special_tokens(BpeModel& model) {
  std::unordered_set<std::string> made;
  for (const auto& [left, right] : model.merges) made.insert(model.spellings[left] + model.spellings[right]);
  for (std::size_t id = 0; id < model.spellings.size(); ++id) {
    const std::string& spelling = model.spellings[id];
    const auto bytes = spelled_bytes(spelling);
    if (!made.contains(spelling) && (!bytes || bytes->size() > 1))
      model.added.push_back({spelling, static_cast<int>(id)});
  }
}

BpeTokenizer read_gpt2_tokenizer(const Path& vocabulary, const Path& merges) {
  BpeModel model;
  model.pattern = Pattern::gpt2;
  const Ids ids = read_vocabulary(vocabulary, model);
  read_merges(merges, ids, model);
  find_special_tokens(model);
  try {
    return BpeTokenizer(std::move(model));
  } catch (const ShapeError& error) {
    throw FileError(message("{}: expected a vocabulary that fits {}, found a fault: {}", vocabulary.string(),
                            merges.string(), error.what()));
  }
}

}  // namespace gradus::nn
