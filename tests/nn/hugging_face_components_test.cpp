#include <doctest/doctest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/text/bpe_tokenizer.h"

using namespace gradus;
using namespace gradus::nn;
using Json = nlohmann::json;

static const std::array<Json, 7> strangers = {Json::array(), Json::array({1}), "x", 3, nullptr, true, Json::object()};

// Of a template that puts a token before the text, a list where an object belongs ended the program: the JSON library's own
// error came through.
TEST_CASE("a post_processor with anything in its objects' place is refused as a fault of the file") {
  BpeModel model;
  model.alphabet = BpeModel::Alphabet::characters;
  model.spellings = {"<s>", "▁", "t", "h", "th"};
  model.merges = {{2, 3}};
  model.added = {{"<s>", 0, true}};
  model.prefix_space = true;
  model.begin = 0;
  const Json good = Json::parse(BpeTokenizer(model).to_json());
  for (const auto& [place, name] : {std::pair{0, "SpecialToken"}, {1, "Sequence"}})
    for (const Json& stranger : strangers) {
      CAPTURE(stranger.dump());
      Json file = good;
      file["post_processor"]["single"][place][name] = stranger;
      CHECK_THROWS_AS(tokenizer_from_json(file.dump(), "t.json"), FileError);
    }
  Json file = good;
  file["post_processor"] = Json::parse(R"({"type": "TemplateProcessing", "single": [{"SpecialToken": []}, {"Sequence": {"id": "A"}}]})");
  CHECK_THROWS_WITH_AS(tokenizer_from_json(file.dump(), "t.json"),
                       "t.json: expected a post_processor that this library knows, ByteLevel, or a TemplateProcessing with one "
                       "token before the text, found {\"single\":[{\"SpecialToken\":[]},{\"Sequence\":{\"id\":\"A\"}}],"
                       "\"type\":\"TemplateProcessing\"}",
                       FileError);
}

TEST_CASE("a Split with anything in its pattern's place is refused as a fault of the file") {
  BpeModel model;
  model.spellings = {"a", "b"};
  model.pattern = Pattern::llama3;
  const Json good = Json::parse(BpeTokenizer(model).to_json());
  CHECK_NOTHROW(tokenizer_from_json(good.dump(), "t.json"));
  for (const Json& stranger : strangers) {
    CAPTURE(stranger.dump());
    Json file = good;
    file["pre_tokenizer"]["pretokenizers"][0]["pattern"] = stranger;
    CHECK_THROWS_AS(tokenizer_from_json(file.dump(), "t.json"), FileError);
  }
}
