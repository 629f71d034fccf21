// tokenizer.json: real files with the ids that their own library gives, and files that are refused.
#include "nn/text/hugging_face_tokenizer.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/text/bpe_trainer.h"
#include "nn/text/text_file.h"
#include "tests/shared_data.h"

using namespace gradus;
using namespace gradus::nn;
using Json = nlohmann::json;
namespace fs = std::filesystem;

static std::unique_ptr<Tokenizer> read(const fs::path& path) {
  return tokenizer_from_json(read_text_file(path, "a tokenizer"), path.string());
}

static Json golden(const char* name) { return Json::parse(read_text_file(data / "golden-tokenizers" / name, "ids")); }

TEST_CASE("a tokenizer over bytes gives the ids of Hugging Face's library, which finds special tokens in every text") {
  if (absent()) return;
  const auto tokenizer = read(data / "minimind-tokenizer/tokenizer.json");
  for (const Json& row : golden("minimind6400-encode.json")) {
    const auto text = row["text"].get<std::string>();
    CAPTURE(text);
    const std::vector<int> ids = tokenizer->encode(text, Specials::allowed);
    CHECK(ids == row["ids"].get<std::vector<int>>());
    CHECK(tokenizer->decode(ids) == text);
    CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
  }
}

TEST_CASE("a tokenizer over characters gives the ids of llama2.c, whose pieces it has") {
  if (absent()) return;
  const auto tokenizer = read(data / "stories260K/hf/tokenizer.json");
  CHECK(tokenizer->begin_token() == 1);
  CHECK(tokenizer->end_token() == 2);
  for (const Json& row : golden("tok512-encode.json")) {
    const auto text = row["text"].get<std::string>();
    CAPTURE(text);
    const std::vector<int> ids = tokenizer->encode(text);
    CHECK(ids == row["ids"].get<std::vector<int>>());
    CHECK(tokenizer->decode(ids) == text);
  }
}

TEST_CASE("a tokenizer written and read again is the same, whatever its alphabet and pattern") {
  std::vector<std::unique_ptr<Tokenizer>> tokenizers;
  const std::string_view texts[] = {"one two three, one two, one and another 1234567"};
  for (const Pattern pattern : {Pattern::none, Pattern::gpt2, Pattern::llama3, Pattern::qwen2})
    tokenizers.push_back(std::make_unique<BpeTokenizer>(
        train_bpe(texts, {.vocab_size = 280, .pattern = pattern, .specials = {"<a>", "<|endoftext|>"}})));
  if (!absent())
    for (const char* name : {"minimind-tokenizer", "stories260K/hf", "story656k-hf"})
      tokenizers.push_back(read(data / name / "tokenizer.json"));
  for (const auto& tokenizer : tokenizers) {
    const auto again = tokenizer_from_json(tokenizer->to_json(), "again.json");
    for (const char* text : {"one two 1234", "  Once upon a time, 12345\n\n", "<|endoftext|>"}) {
      CHECK(again->encode(text, Specials::allowed) == tokenizer->encode(text, Specials::allowed));
      CHECK(again->encode(text) == tokenizer->encode(text));
    }
    CHECK(again->vocab_size() == tokenizer->vocab_size());
    CHECK(again->begin_token() == tokenizer->begin_token());
    CHECK(again->end_token() == tokenizer->end_token());
    CHECK(again->to_json() == tokenizer->to_json());
  }
}

TEST_CASE("a special token that was declared in training is one id after saving and reading") {
  const std::string_view texts[] = {"some text<|end|>some other text<|end|>"};
  const BpeTokenizer trained = train_bpe(texts, {.vocab_size = 262, .specials = {"<|end|>"}});
  const auto read_back = tokenizer_from_json(trained.to_json(), "t.json");
  CHECK(read_back->encode("<|end|>", Specials::allowed) == std::vector{261});
  CHECK(read_back->encode("<|end|>").size() == 7);
}

TEST_CASE("an end token of an unusual name stays the end token in the file") {
  const std::string_view texts[] = {"abc"};
  BpeModel model = train_bpe(texts, {.vocab_size = 258, .specials = {"</s>", "<fin>"}}).model();
  model.end = 257;
  CHECK(tokenizer_from_json(BpeTokenizer(model).to_json(), "t.json")->end_token() == 257);
}

// The smallest file: three letters and one merge.
static Json small_file() {
  return Json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null,
    "added_tokens": [{"id": 3, "content": "<end>", "single_word": false, "lstrip": false, "rstrip": false,
                      "normalized": false, "special": true}],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
    "post_processor": null,
    "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
}

TEST_CASE("merges are read as strings and as pairs") {
  Json file = small_file();
  CHECK(tokenizer_from_json(file.dump(), "t.json")->encode("ab") == std::vector{2});
  file["model"]["merges"] = Json::array({Json::array({"a", "b"})});
  CHECK(tokenizer_from_json(file.dump(), "t.json")->encode("ab") == std::vector{2});
}

// Hugging Face's tokenizers before version 0.20 refuse a file with pairs.
TEST_CASE("merges are written as strings, which every reader knows, and as pairs only where a token has a blank") {
  const auto merges_of = [](const Tokenizer& tokenizer) { return Json::parse(tokenizer.to_json())["model"]["merges"]; };
  CHECK(merges_of(*tokenizer_from_json(small_file().dump(), "t.json")) == Json::array({"a b"}));
  BpeModel blanks;
  blanks.alphabet = BpeModel::Alphabet::characters;
  blanks.spellings = {" ", "a", " a"};
  blanks.merges = {{0, 1}};
  for (int byte = 0; byte < 256; ++byte) blanks.spellings.push_back(message("<0x{:02X}>", byte));
  CHECK(merges_of(BpeTokenizer(blanks)) == Json::array({Json::array({" ", "a"})}));
}

TEST_CASE("a prefix space and a begin token in front, as the file has them") {
  Json file = small_file();
  file["model"]["vocab"] = {{"a", 0}, {"b", 1}, {"ab", 2}, {"Ġ", 4}};
  file["pre_tokenizer"]["add_prefix_space"] = true;
  file["post_processor"] = Json::parse(R"({"type": "Sequence", "processors": [{"type": "ByteLevel"},
    {"type": "TemplateProcessing", "pair": [],
     "single": [{"SpecialToken": {"id": "<end>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
     "special_tokens": {"<end>": {"id": "<end>", "ids": [3], "tokens": ["<end>"]}}}]})");
  const auto tokenizer = tokenizer_from_json(file.dump(), "t.json");
  CHECK(tokenizer->begin_token() == 3);
  CHECK(tokenizer->encode("ab") == std::vector{3, 4, 2});
  CHECK(tokenizer->encode(" ab") == std::vector{3, 4, 4, 2});
  for (const char* text : {"", "ab", " ab", "  "}) CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
  CHECK(tokenizer_from_json(tokenizer->to_json(), "t.json")->encode("ab") == std::vector{3, 4, 2});
}

// Qwen2's file asks for it.
TEST_CASE("the composed form is kept in the file, and the text as it is") {
  Json file = small_file();
  file["normalizer"] = {{"type", "NFC"}};
  for (const char* spelling : {"e", "Ì", "ģ"}) file["model"]["vocab"][spelling] = file["model"]["vocab"].size() + 1;
  const auto tokenizer = tokenizer_from_json(file.dump(), "t.json");
  CHECK(tokenizer->decode(tokenizer->encode("e\u0301")) == "e\u0301");
  CHECK(Json::parse(tokenizer->to_json())["normalizer"] == file["normalizer"]);
}

static void check_refused(const char* pointer, const char* value, const std::string& what) {
  Json file = small_file();
  file[Json::json_pointer(pointer)] = Json::parse(value);
  CAPTURE(pointer);
  CHECK_THROWS_WITH_AS(tokenizer_from_json(file.dump(), "t.json"), ("t.json: " + what).c_str(), FileError);
}

TEST_CASE("a component that is not known here is refused with its text") {
  check_refused("/normalizer", R"({"type": "Lowercase"})", "expected a normalizer that this library knows, none before "
                "ByteLevel, or NFC, found {\"type\":\"Lowercase\"}");
  const std::string pre_tokenizer = "expected a pre_tokenizer that this library knows, ByteLevel, or a Split by the pattern of "
                                    "gpt2, llama3 or qwen2 and then ByteLevel, found ";
  check_refused("/pre_tokenizer", R"({"type": "Whitespace"})", pre_tokenizer + "{\"type\":\"Whitespace\"}");
  const std::string split = R"({"pretokenizers":[{"behavior":"Isolated","invert":false,"pattern":{"Regex":"\\d+"},)"
                            R"("type":"Split"},{"add_prefix_space":false,"type":"ByteLevel","use_regex":false}],)"
                            R"("type":"Sequence"})";
  check_refused("/pre_tokenizer", split.c_str(), pre_tokenizer + split);
  check_refused("/pre_tokenizer/use_regex", "1", "expected \"use_regex\" to be true or false, found 1");
  check_refused("/decoder", R"({"type":"WordPiece"})",
                "expected a decoder that this library knows, ByteLevel as the pre_tokenizer, found {\"type\":\"WordPiece\"}");
  check_refused("/decoder", "null", "expected a decoder that this library knows, ByteLevel as the pre_tokenizer, found null");
  check_refused("/pre_tokenizer", "null", "expected a normalizer that this library knows, LLaMA's, which spells spaces as "
                "\\u2581 and may put one before the text, found null");
  const std::string processor = "expected a post_processor that this library knows, ByteLevel, or a TemplateProcessing with "
                                "one token before the text, found ";
  check_refused("/post_processor", R"({"type":"BertProcessing"})", processor + "{\"type\":\"BertProcessing\"}");
  const std::string behind = R"({"single":[{"Sequence":{"id":"A"}},{"SpecialToken":{"id":"<end>"}}],)"
                             R"("type":"TemplateProcessing"})";
  check_refused("/post_processor", behind.c_str(), processor + behind);
  check_refused("/post_processor", R"({"single":[7,8],"type":"TemplateProcessing"})",
                processor + R"({"single":[7,8],"type":"TemplateProcessing"})");
  const std::string other_id = R"({"single":[{"SpecialToken":{"id":"<end>"}},{"Sequence":{"id":"A"}}],)"
                               R"("special_tokens":{"<end>":{"ids":[2]}},"type":"TemplateProcessing"})";
  check_refused("/post_processor", other_id.c_str(),
                "expected a post_processor that this library knows, one with the id of its token, found " + other_id);
  check_refused("/model/type", "\"WordPiece\"", "expected a model of type \"BPE\", found \"WordPiece\"");
  check_refused("/model/dropout", "0.1", "expected \"dropout\" to be off, found 0.1, which is not known here");
  check_refused("/model/end_of_word_suffix", "\"</w>\"",
                "expected \"end_of_word_suffix\" to be off, found \"</w>\", which is not known here");
  check_refused("/truncation", R"({"max_length":8})",
                "expected \"truncation\" to be off, found {\"max_length\":8}, which is not known here");
  check_refused("/added_tokens/0/lstrip", "true", "expected \"lstrip\" to be off, found true, which is not known here");
  check_refused("/extra", "1", "expected the fields of a tokenizer.json, found \"extra\": 1");
}

TEST_CASE("a malformed file is refused with what was expected and what was found") {
  check_refused("/model", "3", "expected \"model\" to be an object, found 3");
  check_refused("/model/vocab", "[]", "expected \"vocab\" to be an object, found []");
  check_refused("/model/vocab/a", "-1", "expected the id of \"a\" to be a whole number of 0 or more, found -1");
  check_refused("/model/vocab/a", "1e3", "expected the id of \"a\" to be a whole number of 0 or more, found 1000.0");
  check_refused("/model/vocab/a", "99999999999",
                "expected the id of \"a\" to be a whole number of 0 or more, found 99999999999");
  check_refused("/model/vocab/a", "7", "expected 4 tokens to have the ids 0 to 3, each once, found \"a\" with 7");
  check_refused("/model/merges", "7", "expected \"merges\" to be a list, found 7");
  check_refused("/model/merges/0", "\"ab\"", "expected merge 0 to be two tokens, found \"ab\"");
  check_refused("/model/merges/0", "\"a b a\"", "expected merge 0 to be two tokens, found \"a b a\"");
  check_refused("/model/merges/0", "[\"a\"]", "expected merge 0 to be two tokens, found [\"a\"]");
  check_refused("/model/merges/0", "\"a c\"", "expected the tokens of merge 0 in the vocabulary, found \"a c\"");
  check_refused("/model/merges/0", "\"b a\"", "expected a vocabulary and its merges, found a fault: bpe: merge 0 makes "
                "\"ba\", which is not in the vocabulary");
  check_refused("/model/vocab", R"({"a": 0, "b": 1, "ab": 2, "<end>": 4})",
                "expected the added token \"<end>\" to have the id 4 that it has in the vocabulary, found 3");
  check_refused("/added_tokens", "{}", "expected \"added_tokens\" to be a list, found {}");
  check_refused("/added_tokens/0", "3", "expected an added token as an object, found 3");
  check_refused("/added_tokens/0/content", "3", "expected \"content\" to be a string, found 3");
  check_refused("/added_tokens/0/special", "3", "expected \"special\" to be true or false, found 3");
  check_refused("/added_tokens/0/content", "\"\"", "expected a vocabulary and its merges, found a fault: tokenizer: a special "
                "token must have 1 to 512 bytes, not 0");
}

TEST_CASE("a file cut off anywhere is refused, and none crashes") {
  const std::string whole = small_file().dump();
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK_THROWS_AS(tokenizer_from_json(std::string_view(whole).substr(0, length), "t.json"), FileError);
}

// LLaMA's components around the same vocabulary.
static Json file_of_characters() {
  Json file = small_file();
  const Json space = "▁";
  file["normalizer"] = {{"type", "Sequence"},
                        {"normalizers",
                         {{{"type", "Prepend"}, {"prepend", space}},
                          {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", space}}}}};
  file["pre_tokenizer"] = nullptr;
  file["post_processor"] = Json::parse(R"({"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<end>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {"<end>": {"id": "<end>", "ids": [3], "tokens": ["<end>"]}}})");
  file["decoder"] = {{"type", "Sequence"},
                     {"decoders",
                      {{{"type", "Replace"}, {"pattern", {{"String", space}}}, {"content", " "}},
                       {{"type", "ByteFallback"}},
                       {{"type", "Fuse"}},
                       {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}};
  file["model"]["byte_fallback"] = true;
  file["model"]["vocab"] = {{"a", 0}, {"b", 1}, {"ab", 2}, {"▁", 4}};
  return file;
}

// With what LLaMA 3's has: a Split, and a Sequence of post-processors.
static Json file_of_bytes() {
  Json file = small_file();
  Json processor = file_of_characters()["post_processor"];
  file["post_processor"] = {{"type", "Sequence"}, {"processors", {{{"type", "ByteLevel"}}, processor}}};
  file["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Split"}, {"pattern", {{"Regex", pattern_regex(Pattern::llama3)}}}, {"behavior", "Isolated"},
         {"invert", false}},
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  return file;
}

TEST_CASE("characters without byte fallback are refused: what the vocabulary lacks would be lost") {
  Json file = file_of_characters();
  CHECK(tokenizer_from_json(file.dump(), "t.json")->encode("ab") == std::vector{3, 4, 2});
  file["model"]["byte_fallback"] = false;
  CHECK_THROWS_WITH_AS(tokenizer_from_json(file.dump(), "t.json"),
                       "t.json: expected \"byte_fallback\" where there is no ByteLevel, found neither", FileError);
}

// The pointers of a value and of all that is in it.
static void list_pointers(const Json& value, const Json::json_pointer& at, std::vector<Json::json_pointer>& list) {
  list.push_back(at);
  if (value.is_object())
    for (const auto& [name, member] : value.items()) list_pointers(member, at / name, list);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) list_pointers(value[i], at / i, list);
}

TEST_CASE("a file with any one value replaced by another kind is read or refused, and none crashes") {
  for (const Json& file : {small_file(), file_of_characters(), file_of_bytes()}) {
    CHECK(tokenizer_from_json(file.dump(), "t.json")->vocab_size() >= 4);
    std::vector<Json::json_pointer> pointers;
    list_pointers(file, Json::json_pointer(), pointers);
    for (const Json::json_pointer& pointer : pointers)
      for (const char* other : {"null", "true", "-3", "1e30", "\"x\"", "[]", "{}", "[[]]", "[1, 2]", "[{}]",
                                "{\"type\": \"Sequence\"}"}) {
        Json changed = file;
        changed[pointer] = Json::parse(other);
        CAPTURE(changed.dump());
        try {
          tokenizer_from_json(changed.dump(), "t.json")->encode("");
        } catch (const FileError&) {
        }
      }
  }
}
