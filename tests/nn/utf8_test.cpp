#include "nn/text/utf8.h"

#include <doctest/doctest.h>

#include "autograd/error.h"
#include "autograd/random.h"

using namespace gradus;
using namespace gradus::nn;

static bool is_whole(std::string_view text) {
  const FirstCharacter first = first_character(text);
  return first.state == Utf8::whole && first.length == text.size();
}

TEST_CASE("every Unicode scalar value is one whole character, and its code is read back") {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0 | code >> 6), put(0x80 | (code & 63));
    } else if (code < 0x10000) {
      put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
    } else {
      put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 63)), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
    }
    REQUIRE(is_whole(text));
    REQUIRE(first_character(text).code == code);
    for (std::size_t length = 1; length < text.size(); ++length)
      REQUIRE(first_character(text.substr(0, length)).state == Utf8::incomplete);
  }
}

TEST_CASE("overlong forms, surrogates, codes above U+10FFFF and stray bytes are broken, one byte at a time") {
  for (const char* text : {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\x80", "\xE6\x41", "\xC3("}) {
    CAPTURE(text);
    CHECK(first_character(text).state == Utf8::broken);
    CHECK(first_character(text).length == 1);
  }
}

TEST_CASE("an empty text has no first character") {
  CHECK_THROWS_WITH_AS(first_character(""), "utf8: an empty text has no first character", ShapeError);
}

TEST_CASE("of a text that was cut off the last character is left out where it is not whole, and no other byte") {
  const std::string whole = "a\xC3\xA9\xE6\xAD\xAA\xF0\x9F\x98\x8A";
  std::size_t good = 0;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    if (is_utf8(whole.substr(0, length))) good = length;
    CHECK(without_half_character(std::string_view(whole).substr(0, length)) == whole.substr(0, good));
  }
  CHECK(without_half_character("a\xFF") == "a\xFF");
  CHECK(without_half_character("\xE6\xC3") == "\xE6");
}

// Programs that print each token's bytes at once show a replacement mark for every half of an emoji.
TEST_CASE("a stream hands on nothing after half a character and the whole character after the other half") {
  Utf8Stream stream;
  CHECK(stream.push("\xF0\x9F") == "");
  CHECK(stream.push("\x98\x8A") == "\xF0\x9F\x98\x8A");
  CHECK(stream.flush() == "");
}

TEST_CASE("a byte that can never become valid does not hold a stream up") {
  Utf8Stream stream;
  CHECK(stream.push("\xFF") == "\xFF");
  CHECK(stream.push("a\xE6") == "a");
  CHECK(stream.push("bc") == "\xE6" "bc");
  CHECK(stream.push("\xE0") == "");
  CHECK(stream.push("\x80") == "\xE0\x80");
  CHECK(stream.push("\xC3") == "");
  CHECK(stream.flush() == "\xC3");
  CHECK(stream.flush() == "");
}

TEST_CASE("a stream changes no byte, however the text is cut") {
  Rng rng(4);
  const std::string pool = "az\n\xC3\xA9\xE6\xAD\xAA\xF0\x9F\x98\x8A\xFF\x80";
  std::string text, streamed;
  Utf8Stream stream;
  for (int i = 0; i < 20000; ++i) text += pool[rng.below(pool.size())];
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    length = 1 + rng.below(5);
    streamed += stream.push(std::string_view(text).substr(at, length));
  }
  CHECK(streamed + stream.flush() == text);
}
