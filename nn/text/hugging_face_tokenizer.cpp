#include "nn/text/hugging_face_tokenizer.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/text/tokenizer_json.h"

namespace gradus::nn {

using Json = nlohmann::json;

namespace {

using Ids = std::unordered_map<std::string, int>;

// Reads one file; each function one field of it.
class Reader {
 public:
  Reader(const Json& file, std::string_view path) : file_(file), path_(path) {}

  BpeModel model() {
    check_fields();
    read_vocabulary();
    read_added_tokens();
    number_spellings();
    read_merges();
    read_components(file_, path_, model_);
    model_.whole_words = flag(file_["model"], "ignore_merges", false);
    const bool characters = model_.alphabet == BpeModel::Alphabet::characters;
    expect<FileError>(!characters || !model_.whole_words,
                      "{}: expected \"ignore_merges\" only with ByteLevel, found it without", path_);
    expect<FileError>(!characters || flag(file_["model"], "byte_fallback", false),
                      "{}: expected \"byte_fallback\" where there is no ByteLevel, found neither", path_);
    return std::move(model_);
  }

 private:
  const Json& field(const Json& object, const char* name, bool (Json::*is_right)() const noexcept,
                    std::string_view wanted) const {
    expect<FileError>(object.contains(name), "{}: expected \"{}\", {}, found no such field", path_, name, wanted);
    const Json& value = object[name];
    expect<FileError>((value.*is_right)(), "{}: expected \"{}\" to be {}, found {}", path_, name, wanted, shown(value));
    return value;
  }

  bool flag(const Json& object, const char* name, bool otherwise) const {
    return object.contains(name) ? field(object, name, &Json::is_boolean, "true or false").get<bool>() : otherwise;
  }

  // A setting that would change the ids or the text, and is off in all files that this library reads.
  void expect_off(const Json& object, const char* name) const {
    const Json value = object.contains(name) ? object[name] : Json();
    expect<FileError>(value.is_null() || value == false || value == "" || value == 0,
                      "{}: expected \"{}\" to be off, found {}, which is not known here", path_, name, shown(value));
  }

  int id(const Json& value, std::string_view what) const {
    if (value.is_number_unsigned() && value <= std::numeric_limits<int>::max()) return value.get<int>();
    throw FileError(message("{}: expected the id of {} to be a whole number of 0 or more, found {}", path_,
                            json_string(what), shown(value)));
  }

  void check_fields() const {
    constexpr std::string_view known[] = {"version",       "truncation",     "padding", "added_tokens", "normalizer",
                                          "pre_tokenizer", "post_processor", "decoder", "model"};
    for (const auto& [name, value] : file_.items())
      expect<FileError>(std::ranges::find(known, name) != std::end(known),
                        "{}: expected the fields of a tokenizer.json, found {}: {}", path_, json_string(name),
                        shown(value));
    expect_off(file_, "truncation");
    expect_off(file_, "padding");
    const Json& model = field(file_, "model", &Json::is_object, "an object");
    const Json type = model.value("type", Json("BPE"));  // the oldest files do not say it
    expect<FileError>(type == "BPE", "{}: expected a model of type \"BPE\", found {}", path_, shown(type));
    for (const char* name : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) expect_off(model, name);
  }

  void read_vocabulary() {
    for (const auto& [spelling, value] : field(file_["model"], "vocab", &Json::is_object, "an object").items())
      ids_.emplace(spelling, id(value, spelling));
  }

  void read_added_tokens() {
    if (!file_.contains("added_tokens")) return;
    const bool normalised = file_.contains("normalizer") && !file_["normalizer"].is_null();
    for (const Json& entry : field(file_, "added_tokens", &Json::is_array, "a list")) {
      expect<FileError>(entry.is_object(), "{}: expected an added token as an object, found {}", path_, shown(entry));
      AddedToken token{field(entry, "content", &Json::is_string, "a string").get<std::string>(), 0,
                       flag(entry, "special", false)};
      token.id = id(entry.value("id", Json()), token.text);
      for (const char* name : {"single_word", "lstrip", "rstrip"}) expect_off(entry, name);
      if (normalised && !token.special) expect_off(entry, "normalized");
      const auto [place, fresh] = ids_.emplace(token.text, token.id);
      expect<FileError>(place->second == token.id,
                        "{}: expected the added token {} to have the id {} that it has in the vocabulary, found {}", path_,
                        json_string(token.text), place->second, token.id);
      if (flag(entry, "end", false)) model_.end = token.id;
      model_.added.push_back(std::move(token));
    }
  }

  void number_spellings() {
    model_.spellings.resize(ids_.size());
    std::vector<bool> taken(ids_.size());
    for (const auto& [spelling, number] : ids_) {
      const std::size_t place = static_cast<std::size_t>(number);
      if (place >= ids_.size() || taken[place])
        throw FileError(message("{}: expected {} tokens to have the ids 0 to {}, each once, found {} with {}", path_,
                                ids_.size(), ids_.size() - 1, json_string(spelling), number));
      taken[place] = true;
      model_.spellings[place] = spelling;
    }
  }

  // "a b", or ["a", "b"].
  void read_merges() {
    for (const Json& merge : field(file_["model"], "merges", &Json::is_array, "a list")) {
      std::string left, right;
      if (merge.is_string()) {
        const std::string& both = merge.get_ref<const std::string&>();
        const std::size_t space = both.find(' ');
        if (space != both.npos && both.find(' ', space + 1) == both.npos)
          left = both.substr(0, space), right = both.substr(space + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        left = merge[0].get<std::string>(), right = merge[1].get<std::string>();
      }
      if (left.empty() || right.empty())
        throw FileError(message("{}: expected merge {} to be two tokens, found {}", path_, model_.merges.size(),
                                shown(merge)));
      const auto first = ids_.find(left), second = ids_.find(right);
      if (first == ids_.end() || second == ids_.end())
        throw FileError(message("{}: expected the tokens of merge {} in the vocabulary, found {}", path_,
                                model_.merges.size(), shown(merge)));
      model_.merges.emplace_back(first->second, second->second);
    }
  }

  const Json& file_;
  std::string_view path_;
  BpeModel model_;
  Ids ids_;
};

}  // namespace

BpeModel read_hugging_face_tokenizer(const Json& file, std::string_view path) { return Reader(file, path).model(); }

std::string write_hugging_face_tokenizer(const BpeModel& model) {
  using Ordered = nlohmann::ordered_json;
  Ordered file = {
      {"version", "1.0"}, {"truncation", nullptr}, {"padding", nullptr}, {"added_tokens", Ordered::array()}};
  for (const AddedToken& token : model.added) {
    file["added_tokens"].push_back({{"id", token.id},
                                    {"content", token.text},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", token.special}});
    if (token.id == model.end) file["added_tokens"].back()["end"] = true;
  }
  write_components(model, file);

  Ordered::object_t vocabulary;  // emplace() would compare each name with all before it
  for (std::size_t id = 0; id < model.spellings.size(); ++id) vocabulary.emplace_back(model.spellings[id], id);
  // Every reader knows merges as "a b"; only newer ones know pairs, which can hold blanks.
  const bool blanks = std::ranges::any_of(model.merges, [&](const auto& merge) {
    return (model.spellings[merge.first] + model.spellings[merge.second]).find(' ') != std::string::npos;
  });
  Ordered merges = Ordered::array();
  for (const auto& [left, right] : model.merges) {
    const std::string &a = model.spellings[left], &b = model.spellings[right];
    merges.push_back(blanks ? Ordered::array({a, b}) : Ordered(a + " " + b));
  }
  file["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", model.alphabet == BpeModel::Alphabet::characters},
                   {"ignore_merges", model.whole_words},
                   {"vocab", std::move(vocabulary)},
                   {"merges", std::move(merges)}};
  return file.dump(1) + "\n";
}

std::string BpeTokenizer::to_json() const { return write_hugging_face_tokenizer(model_); }

}  // namespace gradus::nn
