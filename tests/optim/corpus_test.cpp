#include "optim/corpus.h"

#include <doctest/doctest.h>

#include <fstream>

#include "autograd/error.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::optim;

namespace {

// Bytes, and 256 behind each document.
struct BytesWithEnd : nn::ByteTokenizer {
  std::size_t vocab_size() const override { return 257; }
  std::optional<int> end_token() const override { return 256; }
};

}  // namespace

static std::vector<std::string> documents(const Corpus& corpus) {
  std::vector<std::string> list(1);
  for_each_piece(corpus, [&](std::string_view text, bool ends) {
    list.back() += text;
    if (ends) list.emplace_back();
  });
  list.pop_back();
  return list;
}

TEST_CASE("a text file is one document, whatever its bytes, or one between each two separator lines") {
  const TemporaryFolder folder;
  const std::string text = std::string("a\0b\r\n\xE6\xAD\n<|end|>\n", 16) + "c <|end|>\n<|end|>\n<|end|>\nd";
  const auto path = folder.write("text.txt", text);
  CHECK(documents({{path}, ""}) == std::vector{text});
  CHECK(documents({{path}, "<|end|>"}) == std::vector<std::string>{std::string("a\0b\r\n\xE6\xAD\n", 8), "c <|end|>\n", "d"});
}

TEST_CASE("a large document comes in pieces that end behind line breaks and give it back") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; text.size() < (std::size_t{20} << 20); ++i) text += "line " + std::to_string(i) + "\n";
  const auto path = folder.write("text.txt", text);
  std::string joined;
  std::size_t pieces = 0, ends = 0;
  for_each_piece({{path}, ""}, [&](std::string_view piece, bool last) {
    joined += piece;
    ++pieces;
    ends += last;
    CHECK(piece.ends_with("\n"));
  });
  CHECK(joined == text);
  CHECK(pieces == 3);
  CHECK(ends == 1);
}

TEST_CASE("in a .jsonl file every line is a document, and a bad line is refused by its number") {
  const TemporaryFolder folder;
  CHECK(documents({{folder.write("a.jsonl", "{\"text\": \"one\\n\"}\n\n{\"text\": \"\xC3\xA9\", \"id\": 3}\n{\"text\": \"\"}")}, ""}) ==
        std::vector<std::string>{"one\n", "\xC3\xA9"});
  for (const char* bad : {"{\"text\": 3}", "{\"txt\": \"a\"}", "[1]", "{\"text\": \"a", "\"text\"", "{\"text\": \"\xC3\"}"}) {
    CAPTURE(bad);
    const auto path = folder.write("bad.jsonl", std::string("{\"text\": \"a\"}\n") + bad + "\n");
    CHECK_THROWS_WITH_AS(documents({{path}, ""}), doctest::Contains("bad.jsonl: expected line 2 to be a JSON object"), FileError);
  }
}

TEST_CASE("a folder is read in the order of its paths, and only its texts") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "b");
  folder.write("c.txt", "3");
  folder.write("b/x.jsonl", "{\"text\": \"2\"}");
  folder.write("a.txt", "1");
  folder.write("picture.png", "no");
  CHECK(documents({{folder.path()}, ""}) == std::vector<std::string>{"1", "2", "3"});
  std::filesystem::create_directory(folder / "empty");
  CHECK_THROWS_WITH_AS(documents({{folder / "empty"}, ""}), doctest::Contains("expected .txt or .jsonl files"), FileError);
}

TEST_CASE("what is not there or has no text is refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(documents({{folder / "absent.txt"}, ""}), doctest::Contains("absent.txt: the text cannot be read"), FileError);
  CHECK_THROWS_WITH_AS(documents({{folder.write("empty.txt", "")}, ""}),
                       doctest::Contains("empty.txt: the text is empty; there is nothing to learn from"), FileError);
}

TEST_CASE("behind every document stands the end token, and a text that spells it stays text") {
  const TemporaryFolder folder;
  const auto path = folder.write("text.txt", "ab\n--\nc\n");
  CHECK(encode({{path, path}, "--"}, BytesWithEnd()) ==
        std::vector<int>{'a', 'b', '\n', 256, 'c', '\n', 256, 'a', 'b', '\n', 256, 'c', '\n', 256});
  CHECK(encode({{path}, "--"}, nn::ByteTokenizer()) == std::vector<int>{'a', 'b', '\n', 'c', '\n'});
}

TEST_CASE("a text cut inside a character is taken as bytes, and refused as characters with file and place") {
  const TemporaryFolder folder;
  const auto path = folder.write("cut.txt", "ab\xE6\xAD");
  CHECK(encode({{path}, ""}, nn::ByteTokenizer()).size() == 4);
  CHECK_THROWS_WITH_AS(encode({{path}, ""}, nn::CharTokenizer::of_text("ab")),
                       doctest::Contains("cut.txt: chars: byte 0xE6 at offset 2 is not UTF-8"), FileError);
}
