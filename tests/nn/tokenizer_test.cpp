#include "nn/text/tokenizer.h"

#include <doctest/doctest.h>

#include "autograd/error.h"
#include "autograd/random.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"

using namespace gradus;
using namespace gradus::nn;

static std::string round_trip(const Tokenizer& tokenizer, std::string_view text) {
  return tokenizer.decode(tokenizer.encode(text));
}

TEST_CASE("the byte tokenizer returns any bytes unchanged: blanks, half characters, a megabyte of noise") {
  const ByteTokenizer bytes;
  for (const char* text : {"", " ", "   x", "\ta\r\nb\r\n", "\n\n\n", "hello--world", "\xE6\xAD"})
    CHECK(round_trip(bytes, text) == text);
  std::string noise;
  for (int byte = 0; byte < 256; ++byte) noise += static_cast<char>(byte);
  CHECK(bytes.encode(noise)[255] == 255);
  Rng rng(1);
  while (noise.size() < 1 << 20) noise += static_cast<char>(rng.bits());
  CHECK(round_trip(bytes, noise) == noise);
}

TEST_CASE("the byte tokenizer's ids are the bytes, and it has no end token") {
  const ByteTokenizer bytes;
  CHECK(bytes.encode("A\xFF") == std::vector{65, 255});
  CHECK(bytes.vocab_size() == 256);
  CHECK(bytes.name() == "bytes");
  CHECK_FALSE(bytes.end_token());
}

TEST_CASE("an id outside the vocabulary is refused by its number and position") {
  const std::vector ids = {65, 256}, negative = {-1};
  CHECK_THROWS_WITH_AS(ByteTokenizer().decode(ids), "bytes: id 256 at position 1 must be a byte, 0 to 255", ShapeError);
  CHECK_THROWS_WITH_AS(CharTokenizer::of_text("ab").decode(negative),
                       "chars: id -1 at position 0 must be below the vocabulary's 2 characters", ShapeError);
}

TEST_CASE("the character tokenizer numbers a text's characters in the order of their code points") {
  const CharTokenizer chars = CharTokenizer::of_text("h\xC3\xA9llo \xF0\x9F\x98\x8A \xE6\xAD\xAA\n");
  CHECK(chars.vocab_size() == 8);
  CHECK(chars.name() == "chars");
  CHECK(chars.decode(std::vector{0, 1, 2, 3, 4, 5, 6, 7}) == "\n hlo\xC3\xA9\xE6\xAD\xAA\xF0\x9F\x98\x8A");
  CHECK(chars.encode("ol\xC3\xA9") == std::vector{4, 3, 5});
  CHECK(round_trip(chars, "\xF0\x9F\x98\x8A\n\n holl") == "\xF0\x9F\x98\x8A\n\n holl");
  CHECK(round_trip(chars, "") == "");
}

TEST_CASE("a character outside the vocabulary is refused by its name and byte offset") {
  const CharTokenizer chars = CharTokenizer::of_text("ab\xC3\xA9");
  CHECK_THROWS_WITH_AS(chars.encode("\xC3\xA9\xE6\xAD\xAA"),
                       "chars: \"\xE6\xAD\xAA\" (U+6B6A) at byte 2 is not one of the vocabulary's 3 characters; "
                       "train on a text that has it, or use the byte tokenizer",
                       ShapeError);
  CHECK_THROWS_WITH_AS(chars.encode("ab\n"),
                       "chars: \"\\n\" (U+000A) at byte 2 is not one of the vocabulary's 3 characters; "
                       "train on a text that has it, or use the byte tokenizer",
                       ShapeError);
}

TEST_CASE("text that is not UTF-8 is refused by the byte and its offset, in training and in use") {
  const char* const wrong = "chars: byte 0xE6 at offset 1 is not UTF-8; the byte tokenizer takes any bytes";
  CHECK_THROWS_WITH_AS(CharTokenizer::of_text("a\xE6\xAD"), wrong, ShapeError);
  CHECK_THROWS_WITH_AS(CharTokenizer::of_text("a").encode("a\xE6" "a"), wrong, ShapeError);
  CHECK_THROWS_WITH_AS(CharTokenizer::of_text(""),
                       "chars: the vocabulary must have at least one character; is the training text empty?",
                       ShapeError);
}

TEST_CASE("a tokenizer read back from its JSON gives the same ids") {
  const std::string text = std::string("\"\\/\x01\x7F\n\t", 7) + '\0' + "b \xC3\xA9\xE2\x80\xA8\xF0\x9F\x98\x8A";
  const CharTokenizer chars = CharTokenizer::of_text(text);
  const auto again = tokenizer_from_json(chars.to_json(), "tokenizer.json");
  CHECK(again->name() == "chars");
  CHECK(again->encode(text) == chars.encode(text));
  CHECK(again->to_json() == chars.to_json());
  CHECK(CharTokenizer::of_text("b\na").to_json() == "{\"type\": \"chars\", \"vocabulary\": [\"\\n\", \"a\", \"b\"]}\n");
  CHECK(tokenizer_from_json(ByteTokenizer().to_json(), "tokenizer.json")->name() == "bytes");
}

TEST_CASE("a wrong tokenizer file is refused with its path, what was expected and what was found") {
  const auto check = [](const char* text, const char* what) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(tokenizer_from_json(text, "t.json"), what, FileError);
  };
  check("", "t.json: expected a tokenizer in JSON, found text that is not JSON at byte 1");
  check("{\"type\": \"bytes\"", "t.json: expected a tokenizer in JSON, found text that is not JSON at byte 17");
  check("[]", "t.json: expected a tokenizer as a JSON object, found array");
  check("{}", "t.json: expected \"type\" to be \"bytes\" or \"chars\", or a \"model\" as Hugging Face's files have it, "
              "found neither");
  check("{\"type\": 1e999}", "t.json: expected a tokenizer in JSON, found a number that is too large");
  check(("{\"type\": " + std::string(100000, '[')).c_str(),
        "t.json: expected a tokenizer in JSON, found more than 32 levels of nesting");
  check("{\"type\": \"words\"}", "t.json: expected \"type\" to be \"bytes\" or \"chars\", found \"words\"");
  check("{\"type\": 7}", "t.json: expected \"type\" to be \"bytes\" or \"chars\", found 7");
  check("{\"type\": \"chars\"}", "t.json: expected \"vocabulary\", a list of characters, found no such field");
  check("{\"type\": \"chars\", \"vocabulary\": \"ab\"}",
        "t.json: expected \"vocabulary\" to be a list of characters, found string");
  check("{\"type\": \"chars\", \"vocabulary\": [\"a\", 3]}",
        "t.json: expected entry 1 of \"vocabulary\" to be a string, found number");
  check("{\"type\": \"chars\", \"vocabulary\": [\"a\", \"bc\"]}",
        "t.json: expected a vocabulary of characters, found a fault: "
        "chars: entry 1 of the vocabulary, \"bc\", must be one character");
  check("{\"type\": \"chars\", \"vocabulary\": [\"a\", \"a\"]}",
        "t.json: expected a vocabulary of characters, found a fault: "
        "chars: entry 1 of the vocabulary, \"a\", must come after \"a\" in the order of code points");
  check("{\"type\": \"chars\", \"vocabulary\": []}",
        "t.json: expected a vocabulary of characters, found a fault: "
        "chars: the vocabulary must have at least one character; is the training text empty?");
}
