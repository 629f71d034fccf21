#include "nn/text/as_bpe.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"
#include "nn/text/read_tokenizer.h"
#include "tests/nn/temporary_folder.h"
#include "tests/shared_data.h"

using namespace gradus;
using namespace gradus::nn;
namespace fs = std::filesystem;
using Json = nlohmann::json;

TEST_CASE("llama2.c's tokenizer becomes the tokenizer.json that Hugging Face's own converter makes of it") {
  if (absent()) return;
  const BpeTokenizer bpe(as_bpe(Llama2cTokenizer(data / "stories260K/tok512.bin", 512)));
  const Json ours = Json::parse(bpe.to_json()), theirs = Json::parse(bytes_of(data / "stories260K/hf/tokenizer.json"));
  CHECK(ours["model"]["vocab"] == theirs["model"]["vocab"]);
  CHECK(ours["normalizer"] == theirs["normalizer"]);
  CHECK(ours["decoder"] == theirs["decoder"]);
  CHECK(ours["post_processor"] == theirs["post_processor"]);
  CHECK(ours["model"]["merges"] == theirs["model"]["merges"]);
}

TEST_CASE("texts have the same ids under llama2.c's tokenizer and what it becomes") {
  if (absent()) return;
  const Llama2cTokenizer tokenizer(data / "stories260K/tok512.bin", 512);
  const BpeTokenizer bpe(as_bpe(tokenizer));
  for (const Json& row : Json::parse(bytes_of(data / "golden-tokenizers/tok512-encode.json"))) {
    const auto text = row["text"].get<std::string>();
    CAPTURE(text);
    if (text.empty() || text.find("▁") != text.npos) continue;  // where the two programs differ by intent
    CHECK(bpe.encode(text) == row["ids"].get<std::vector<int>>());
    CHECK(bpe.decode(bpe.encode(text)) == text);
  }
}

TEST_CASE("tok512's tokenizer.json becomes llama2.c's file again, byte for byte") {
  if (absent()) return;
  const TemporaryFolder folder;
  write_llama2c_tokenizer(folder / "t.bin", *read_tokenizer((data / "stories260K/hf").string()));
  CHECK(bytes_of(folder / "t.bin") == bytes_of(data / "stories260K/tok512.bin"));
  write_llama2c_tokenizer(folder / "u.bin", Llama2cTokenizer(data / "stories260K/tok512.bin", 512));
  CHECK(bytes_of(folder / "u.bin") == bytes_of(data / "stories260K/tok512.bin"));
}

TEST_CASE("bytes and characters keep their ids as byte-pair encoding") {
  const BpeTokenizer bytes(as_bpe(ByteTokenizer()));
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  CHECK(bytes.encode(every) == ByteTokenizer().encode(every));
  CHECK(bytes.decode(bytes.encode(every)) == every);

  const CharTokenizer tokenizer = CharTokenizer::of_text("hello wörld\n\t春");
  const BpeTokenizer characters(as_bpe(tokenizer));
  const std::string text = " 春\twö hello\n ";
  CHECK(characters.encode(text) == tokenizer.encode(text));
  CHECK(characters.decode(characters.encode(text)) == text);
  const auto again = tokenizer_from_json(characters.to_json(), "tokenizer.json");
  CHECK(again->encode(text) == tokenizer.encode(text));
}

TEST_CASE("a tokenizer that the other form cannot have is refused with the reason") {
  CHECK_THROWS_WITH_AS(as_bpe(CharTokenizer::of_text("a▁")), "tokenizer: the character ▁ stands for a space in a tokenizer.json; "
                       "this vocabulary cannot be written as one", ShapeError);
  CHECK_THROWS_WITH_AS(as_bpe(Llama2cTokenizer({{"<unk>", 0, -1}, {"<s>", 0, -1}, {"</s>", 0, -1}, {"\xFF", 0, -1}})),
                       "tokenizer: the piece 3 is not UTF-8; this vocabulary cannot be written as a tokenizer.json", ShapeError);
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(write_llama2c_tokenizer(folder / "t.bin", ByteTokenizer()), "llama2.c: its tokenizers have characters, and a "
                       "space before each text; this one has not, and cannot be written as one", ShapeError);
  if (absent()) return;
  CHECK_THROWS_WITH_AS(write_llama2c_tokenizer(folder / "t.bin", *read_tokenizer((data / "story656k-hf").string())),
                       doctest::Contains("llama2.c: its tokenizers have "), ShapeError);
  CHECK_FALSE(fs::exists(folder / "t.bin"));
}
