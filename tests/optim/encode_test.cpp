#include "optim/encode.h"

#include <doctest/doctest.h>

#include "autograd/error.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"
#include "nn/text/llama2c_tokenizer.h"
#include "nn/text/read_tokenizer.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::optim;

namespace {

// Bytes, and 256 behind each document.
struct BytesWithEnd : nn::ByteTokenizer {
  std::size_t vocab_size() const override { return 257; }
  std::optional<int> end_token() const override { return 256; }
};

// Joins everything that it is given to one token.
struct Joining : nn::ByteTokenizer {
  std::vector<int> encode(std::string_view text, nn::Specials) const override {
    return {static_cast<int>(text.size() % 256), 0};
  }
};

}  // namespace

static const std::filesystem::path shared = std::filesystem::path(GRADUS_SHARED_DIR) / "data";

static bool absent(const std::filesystem::path& path) {
  if (std::filesystem::exists(path)) return false;
  MESSAGE("skipped: " << path.string() << " is not there");
  return true;
}

// Somewhat more than a piece, with line breaks of every kind.
static std::string large_text() {
  std::string text;
  for (int i = 0; text.size() < (std::size_t{17} << 19); ++i)
    text += "line " + std::to_string(i) + ".\n\n  indented\nand further \n" + (i % 3 == 0 ? "\r\n" : "");
  return text;
}

static void check_pieces(const nn::Tokenizer& tokenizer) {
  const TemporaryFolder folder;
  const std::string text = large_text();
  std::vector<int> expected = tokenizer.encode(text);
  if (tokenizer.end_token()) expected.push_back(*tokenizer.end_token());
  CHECK(encode({{folder.write("text.txt", text)}, ""}, tokenizer) == expected);
}

TEST_CASE("a document of several pieces becomes the tokens of the whole") {
  check_pieces(BytesWithEnd());
  check_pieces(nn::CharTokenizer::of_text(large_text().substr(0, 10000)));
}

TEST_CASE("a document of several pieces becomes the tokens of the whole under other people's tokenizers") {
  if (absent(shared / "minimind-tokenizer/tokenizer.json") || absent(shared / "stories260K/tok512.bin")) return;
  check_pieces(*nn::read_tokenizer((shared / "minimind-tokenizer/tokenizer.json").string()));
  check_pieces(nn::Llama2cTokenizer(shared / "stories260K/tok512.bin", 512));
}

TEST_CASE("a tokenizer for which pieces are not the whole is refused for large documents") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(encode({{folder.write("text.txt", large_text())}, ""}, Joining()),
                       doctest::Contains("corpus: the tokenizer bytes joins lines"), FileError);
}

TEST_CASE("behind every document stands the end token, and a text that spells it stays text") {
  const TemporaryFolder folder;
  const auto path = folder.write("text.txt", "ab\n--\nc\n");
  CHECK(encode({{path, path}, "--"}, BytesWithEnd()) ==
        std::vector<int>{'a', 'b', '\n', 256, 'c', '\n', 256, 'a', 'b', '\n', 256, 'c', '\n', 256});
  CHECK(encode({{path}, "--"}, nn::ByteTokenizer()) == std::vector<int>{'a', 'b', '\n', 'c', '\n'});
}

TEST_CASE("a token that both begins and ends a text stands once between two, and around each where they are apart") {
  if (absent(shared / "stories260K/tok512.bin")) return;
  const nn::Llama2cTokenizer tokenizer(shared / "stories260K/tok512.bin", 512);
  const TemporaryFolder folder;
  const Corpus corpus{{folder.write("text.txt", "a\n--\nb\n")}, "--"};
  CHECK(encode(corpus, tokenizer) == std::vector{1, 261, 13, 1, 268, 13, 1});
  std::vector<std::vector<int>> documents;
  encode_documents(corpus, tokenizer, [&](std::span<const int> ids, bool ends) {
    CHECK(ends);
    documents.emplace_back(ids.begin(), ids.end());
  });
  CHECK(documents == std::vector<std::vector<int>>{{1, 261, 13, 1}, {1, 268, 13, 1}});
}

TEST_CASE("a text cut inside a character is taken as bytes, and refused as characters with file and place") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& name, const std::string& text, const std::string& why) {
    const auto path = folder.write(name, text);
    CHECK(!encode({{path}, ""}, nn::ByteTokenizer()).empty());
    CHECK_THROWS_WITH_AS(encode({{path}, name == "parts.txt" ? "--" : ""}, nn::CharTokenizer::of_text("ab\n")),
                         (path.string() + ": " + why).c_str(), FileError);
  };
  const std::string broken = "chars: byte 0xE6 at offset 2 is not UTF-8; the byte tokenizer takes any bytes";
  refused("cut.txt", "ab\xE6\xAD", broken);
  refused("parts.txt", "ab\n--\nab\xE6\xAD", "in the text from byte 6 on: " + broken);
  refused("c.jsonl", "{\"text\": \"a\"}\n\n{\"text\": \"abc\"}\n",
          "line 3: chars: \"c\" (U+0063) at byte 2 is not one of the vocabulary's 3 characters; train on a text that has it, or "
          "use the byte tokenizer");
}
