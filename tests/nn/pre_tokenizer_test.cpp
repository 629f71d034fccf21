#include "nn/text/pre_tokenizer.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "autograd/error.h"
#include "autograd/random.h"
#include "nn/text/unicode.h"

using namespace gradus;
using namespace gradus::nn;

using Words = std::vector<std::string>;

static Words words(Pattern pattern, std::string_view text) {
  Words list;
  while (!text.empty()) {
    const std::size_t length = first_pre_token(pattern, text);
    REQUIRE(length > 0);
    REQUIRE(length <= text.size());
    list.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return list;
}

// What the engines that run these expressions make of the texts: Hugging Face's tokenizers 0.23.
TEST_CASE("GPT-2's pattern keeps a space with the word behind it, and cuts numbers, punctuation and contractions") {
  const auto cut = [](std::string_view text) { return words(Pattern::gpt2, text); };
  CHECK(cut("Hello world") == Words{"Hello", " world"});
  CHECK(cut("I'm we'll they've 'Sx 'LL") == Words{"I", "'m", " we", "'ll", " they", "'ve", " '", "Sx", " '", "LL"});
  CHECK(cut("a  b   c") == Words{"a", " ", " b", "  ", " c"});
  CHECK(cut("x \n\n y  ") == Words{"x", " \n\n", " y", "  "});
  CHECK(cut("\ta\r\nb") == Words{"\t", "a", "\r", "\n", "b"});
  CHECK(cut("12345 + 6 = x!?") == Words{"12345", " +", " 6", " =", " x", "!?"});
  CHECK(cut("hello--world") == Words{"hello", "--", "world"});
  CHECK(cut("é床前 ²½ \xC2\xA0z") == Words{"é床前", " ²½", " ", "\xC2\xA0", "z"});
  CHECK(cut("a\xC2\x85" "b\x1C") == Words{"a", "\xC2\x85", "b", "\x1C"});
}

TEST_CASE("Llama-3's pattern cuts numbers after three digits, and Qwen2's after each") {
  CHECK(words(Pattern::llama3, "1234567 89") == Words{"123", "456", "7", " ", "89"});
  CHECK(words(Pattern::qwen2, "123 4") == Words{"1", "2", "3", " ", "4"});
  for (const Pattern pattern : {Pattern::llama3, Pattern::qwen2}) {
    const auto cut = [&](std::string_view text) { return words(pattern, text); };
    CHECK(cut("x'\xC5\xBFx x'S y'LL'ReQ") == Words{"x", "'\xC5\xBF", "x", " x", "'S", " y", "'LL", "'Re", "Q"});
    CHECK(cut("a\xC2\x85" "b\x1C" "c \r\n\n  \n z") == Words{"a", "\xC2\x85" "b", "\x1C" "c", " \r\n\n  \n", " z"});
    CHECK(cut("(word) ...\n\n?!") == Words{"(word", ")", " ...\n\n", "?!"});
    CHECK(cut("\tword  x  ") == Words{"\tword", " ", " x", "  "});
    CHECK(cut("   9") == Words{"  ", " ", "9"});
  }
}

TEST_CASE("without a pattern the whole text is one pre-token") {
  CHECK(words(Pattern::none, "a b\n c") == Words{"a b\n c"});
}

TEST_CASE("the pre-tokens of any bytes are the text, piece by piece") {
  Rng rng(3);
  const std::string pool = "az'sS 09\r\n\t.!\xC3\xA9\xE6\xAD\xAA\xF0\x9F\x98\x8A\xFF\x80\xE3\x80\x80\xC5\xBF";
  for (const Pattern pattern : {Pattern::gpt2, Pattern::llama3, Pattern::qwen2, Pattern::none}) {
    std::string text, joined;
    for (int i = 0; i < 20000; ++i) text += pool[rng.below(pool.size())];
    for (const std::string& word : words(pattern, text)) joined += word;
    CHECK(joined == text);
  }
}

TEST_CASE("a byte that is not UTF-8 is neither letter, number nor space") {
  CHECK(words(Pattern::gpt2, "a\xFF" "b \xE6\xAD") == Words{"a", "\xFF", "b", " \xE6\xAD"});
  CHECK(words(Pattern::llama3, "a\xFF" "b \xE6\xAD") == Words{"a", "\xFF" "b", " \xE6\xAD"});
}

TEST_CASE("a pattern is found by its name and by its expression, and any other is refused") {
  for (const Pattern pattern : {Pattern::gpt2, Pattern::llama3, Pattern::qwen2}) {
    CHECK(pattern_of_regex(pattern_regex(pattern)) == pattern);
    CHECK(pattern_named(pattern_name(pattern)) == pattern);
  }
  CHECK(pattern_named("none") == Pattern::none);
  CHECK_FALSE(pattern_of_regex(""));
  CHECK_FALSE(pattern_of_regex("\\s+"));
  CHECK_THROWS_WITH_AS(pattern_named("words"), "pre-tokenizer: \"words\" must be one of gpt2, llama3, qwen2 and none",
                       ShapeError);
  CHECK_THROWS_WITH_AS(first_pre_token(Pattern::gpt2, ""), "pre-tokenizer: an empty text has no first pre-token",
                       ShapeError);
}

TEST_CASE("the tables have Unicode 14's 131,756 letters and 1,791 numbers, in ascending ranges") {
  const auto count = [](std::span<const CodeRange> ranges) {
    std::size_t codes = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      CHECK(ranges[i].first <= ranges[i].last);
      if (i > 0) CHECK(ranges[i - 1].last + 1 < ranges[i].first);
      codes += ranges[i].last - ranges[i].first + 1;
    }
    return codes;
  };
  CHECK(count(letter_ranges()) == 131756);
  CHECK(count(number_ranges()) == 1791);
}

TEST_CASE("a character's kind is its general category, or white space") {
  for (const char32_t code : {U'a', U'Z', U'é', U'ſ', U'床', U'ª', U'\U0001D400'})
    CHECK(character_kind(code) == CharacterKind::letter);
  for (const char32_t code : {U'0', U'9', U'²', U'½', U'Ⅷ', U'٣'}) CHECK(character_kind(code) == CharacterKind::number);
  for (const char32_t code : {U' ', U'\t', U'\x85', U'\xA0', U'\u2028', U'\u3000'})
    CHECK(character_kind(code) == CharacterKind::space);
  for (const char32_t code : {U'\0', U'\x1C', U'_', U'\u0301', U'\u200B', U'\u180E', U'😊', U'\U0010FFFF'})
    CHECK(character_kind(code) == CharacterKind::other);
  // ASCII takes a short way.
  for (char32_t code = 0; code < 0x80; ++code) {
    const bool letter = (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
    CHECK((character_kind(code) == CharacterKind::letter) == letter);
    CHECK((character_kind(code) == CharacterKind::number) == (code >= '0' && code <= '9'));
  }
}
