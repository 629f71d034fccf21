// The parts of a tokenizer.json that say what happens to a text before and after the merging.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/text/hugging_face_tokenizer.h"
#include "nn/text/tokenizer_json.h"

namespace gradus::nn {

using Json = nlohmann::json;

static const Json compose = Json::parse(R"({"type": "NFC"})");
// LLaMA's way with spaces. Each is known as a whole.
static const Json mark_spaces = Json::parse(R"({"type": "Replace", "pattern": {"String": " "}, "content": "▁"})");
static const Json prepend_mark = Json::parse(R"({"type": "Prepend", "prepend": "▁"})");
static const Json unmark_spaces = Json::parse(R"({"type": "Replace", "pattern": {"String": "▁"}, "content": " "})");
static const Json byte_fallback = Json::parse(R"({"type": "ByteFallback"})");
static const Json fuse = Json::parse(R"({"type": "Fuse"})");
static const Json strip_space = Json::parse(R"({"type": "Strip", "content": " ", "start": 1, "stop": 0})");

static Json component(const Json& file, const char* name) { return file.contains(name) ? file[name] : Json(); }

static bool is_type(const Json& value, std::string_view type) {
  return value.is_object() && value.contains("type") && value["type"] == type;
}

[[noreturn]] static void refuse(std::string_view path, std::string_view name, std::string_view known,
                                const Json& found) {
  throw FileError(message("{}: expected a {} that this library knows, {}, found {}", path, name, known, shown(found)));
}

static bool flag(const Json& value, const char* name, bool otherwise, std::string_view path) {
  if (!value.contains(name)) return otherwise;
  expect<FileError>(value[name].is_boolean(), "{}: expected \"{}\" to be true or false, found {}", path, name,
                    shown(value[name]));
  return value[name].get<bool>();
}

// The parts of a Sequence, or the one component itself.
static std::vector<Json> parts(const Json& value, const char* list) {
  if (!is_type(value, "Sequence") || !value.contains(list) || !value[list].is_array()) return {value};
  return {value[list].begin(), value[list].end()};
}

static void read_pre_tokenizer(const Json& value, std::string_view path, BpeModel& model) {
  constexpr std::string_view known = "ByteLevel, or a Split by the pattern of gpt2, llama3 or qwen2 and then ByteLevel";
  std::vector<Json> list = parts(value, "pretokenizers");
  if (list.empty() || !is_type(list.back(), "ByteLevel")) refuse(path, "pre_tokenizer", known, value);
  model.alphabet = BpeModel::Alphabet::bytes;
  model.prefix_space = flag(list.back(), "add_prefix_space", true, path);
  const bool gpt2 = flag(list.back(), "use_regex", true, path);
  if (gpt2) model.pattern = Pattern::gpt2;
  if (list.size() == 1) return;
  const Json& split = list[0];
  const Json chosen = is_type(split, "Split") ? component(split, "pattern") : Json();
  const Json regex = chosen.is_object() ? component(chosen, "Regex") : Json();
  const auto pattern = regex.is_string() ? pattern_of_regex(regex.get<std::string>()) : std::nullopt;
  if (list.size() > 2 || gpt2 || model.prefix_space || !pattern || component(split, "behavior") != "Isolated" ||
      flag(split, "invert", false, path))
    refuse(path, "pre_tokenizer", known, value);
  model.pattern = *pattern;
}

static void read_normalizer(const Json& value, std::string_view path, BpeModel& model) {
  if (model.alphabet == BpeModel::Alphabet::bytes) {
    model.composed = value == compose;
    if (!value.is_null() && !model.composed) refuse(path, "normalizer", "none before ByteLevel, or NFC", value);
    return;
  }
  const std::vector<Json> list = parts(value, "normalizers");
  if (list == std::vector{prepend_mark, mark_spaces})
    model.prefix_space = true;
  else if (list != std::vector{mark_spaces})
    refuse(path, "normalizer", "LLaMA's, which spells spaces as \\u2581 and may put one before the text", value);
}

static void check_decoder(const Json& value, std::string_view path, const BpeModel& model) {
  if (model.alphabet == BpeModel::Alphabet::bytes) {
    if (!is_type(value, "ByteLevel")) refuse(path, "decoder", "ByteLevel as the pre_tokenizer", value);
    return;
  }
  std::vector<Json> wanted = {unmark_spaces, byte_fallback, fuse};
  if (model.prefix_space) wanted.push_back(strip_space);
  if (parts(value, "decoders") != wanted)
    refuse(path, "decoder", "LLaMA's, Replace, ByteFallback, Fuse, and Strip where a space is prepended", value);
}

// {"SpecialToken": {…}} or {"Sequence": {…}}: a path into anything else is an error of the JSON library's own.
static bool is_object_of_objects(const Json& entry) {
  return entry.is_object() && std::ranges::all_of(entry, [](const Json& member) { return member.is_object(); });
}

// A template may put one special token before the text.
static void read_post_processor(const Json& value, std::string_view path, BpeModel& model) {
  constexpr std::string_view known = "ByteLevel, or a TemplateProcessing with one token before the text";
  if (value.is_null()) return;
  for (const Json& part : parts(value, "processors")) {
    if (is_type(part, "ByteLevel")) continue;  // adjusts offsets, which nobody asks for here
    const Json single = component(part, "single");
    const auto sequence = [&](std::size_t place) { return single[place].value("/Sequence/id"_json_pointer, Json()); };
    if (!is_type(part, "TemplateProcessing") || !single.is_array() || single.empty() || single.size() > 2 ||
        !std::ranges::all_of(single, is_object_of_objects) ||
        sequence(single.size() - 1) != "A" || model.begin)
      refuse(path, "post_processor", known, value);
    if (single.size() == 1) continue;
    const Json token = single[0].value("/SpecialToken/id"_json_pointer, Json());
    const auto found = std::ranges::find_if(model.added, [&](const AddedToken& added) { return token == Json(added.text); });
    if (found == model.added.end()) refuse(path, "post_processor", "one whose token is among the added_tokens", value);
    model.begin = found->id;
  }
}

void read_components(const Json& file, std::string_view path, BpeModel& model) {
  const Json pre_tokenizer = component(file, "pre_tokenizer");
  model.alphabet = BpeModel::Alphabet::characters;
  if (!pre_tokenizer.is_null()) read_pre_tokenizer(pre_tokenizer, path, model);
  read_normalizer(component(file, "normalizer"), path, model);
  check_decoder(component(file, "decoder"), path, model);
  read_post_processor(component(file, "post_processor"), path, model);
}

static Json byte_level(bool prefix_space, bool use_regex) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", prefix_space}, {"trim_offsets", true}, {"use_regex", use_regex}};
}

static Json begin_template(const BpeModel& model) {
  if (!model.begin) return nullptr;
  const std::string& text = model.spellings[*model.begin];
  const Json sequence = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const Json token = {{"SpecialToken", {{"id", text}, {"type_id", 0}}}};
  const Json second = {{"Sequence", {{"id", "B"}, {"type_id", 1}}}};
  const Json second_token = {{"SpecialToken", {{"id", text}, {"type_id", 1}}}};
  return {{"type", "TemplateProcessing"},
          {"single", Json::array({token, sequence})},
          {"pair", Json::array({token, sequence, second_token, second})},
          {"special_tokens",
           {{text, {{"id", text}, {"ids", Json::array({*model.begin})}, {"tokens", Json::array({text})}}}}}};
}

void write_components(const BpeModel& model, nlohmann::ordered_json& file) {
  Json normalizer, pre_tokenizer, decoder;
  if (model.alphabet == BpeModel::Alphabet::bytes) {
    const bool gpt2 = model.pattern == Pattern::gpt2;
    pre_tokenizer = byte_level(model.prefix_space, gpt2);
    if (model.pattern != Pattern::none && !gpt2) {
      const Json split = {{"type", "Split"},
                          {"pattern", {{"Regex", pattern_regex(model.pattern)}}},
                          {"behavior", "Isolated"},
                          {"invert", false}};
      pre_tokenizer = {{"type", "Sequence"}, {"pretokenizers", Json::array({split, pre_tokenizer})}};
    }
    decoder = byte_level(true, true);
    if (model.composed) normalizer = compose;
  } else {
    std::vector<Json> before = {mark_spaces}, after = {unmark_spaces, byte_fallback, fuse};
    if (model.prefix_space) {
      before.insert(before.begin(), prepend_mark);
      after.push_back(strip_space);
    }
    normalizer = {{"type", "Sequence"}, {"normalizers", before}};
    decoder = {{"type", "Sequence"}, {"decoders", after}};
  }
  file["normalizer"] = normalizer;
  file["pre_tokenizer"] = pre_tokenizer;
  file["post_processor"] = begin_template(model);
  file["decoder"] = decoder;
}

}  // namespace gradus::nn
