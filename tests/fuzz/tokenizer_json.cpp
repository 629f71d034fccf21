// tokenizer.json of any kind: what is accepted gives every text back, and is written and read as the same.
#include "nn/text/tokenizer.h"
#include "tests/fuzz/target.h"

using namespace gradus;

static void check(const nn::Tokenizer& tokenizer, const std::string& text) {
  std::vector<int> ids;
  try {
    ids = tokenizer.encode(text);
  } catch (const ShapeError&) {
    return;  // a character that the vocabulary lacks
  }
  fuzz::require(tokenizer.decode(ids) == text);
}

FUZZ(bytes) {
  fuzz::expect_no_surprise([&] {
    const auto tokenizer = nn::tokenizer_from_json(bytes, "tokenizer.json");
    for (const char* text : {"", " ", "Once upon a time", "  a\n\tb ", "Zoë 春 \xF0\x9F\x90\xB1", "</s><|endoftext|>"})
      check(*tokenizer, text);
    const std::string json = tokenizer->to_json();
    fuzz::require(nn::tokenizer_from_json(json, "tokenizer.json")->to_json() == json);
  });
}
