// UTF-8, as strictly as the Unicode standard has it (table 3-7): no overlong forms, no surrogates, nothing above
// U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gradus::nn {

enum class Utf8 { whole, incomplete, broken };

// What a text begins with.
struct FirstCharacter {
  Utf8 state;          // incomplete: more bytes could still make it whole
  std::size_t length;  // in bytes; 1 if broken
  char32_t code;       // the code point; 0 unless whole
};
// Errors: the text is empty.
FirstCharacter first_character(std::string_view text);
// The same, except that a byte which begins no whole character is broken, and a character by itself.
FirstCharacter first_character_or_byte(std::string_view text);

bool is_utf8(std::string_view text);

// The text without the beginning of a character at its end: a text that was cut off anywhere can be shown.
std::string_view without_half_character(std::string_view text);

// The text as it can be shown on one line, between quotes: line breaks, control characters, quotes and broken bytes are
// written as in a C++ string.
std::string escaped(std::string_view text);

// Text that arrives in pieces, handed on in whole characters: a screen shows half a character as a replacement mark.
// Nothing is lost or changed. A byte that no later byte can make valid is handed on at once.
class Utf8Stream {
 public:
  std::string push(std::string_view bytes);
  std::string flush();  // what still waits, at the end of the text

 private:
  std::string waiting_;
};

}  // namespace gradus::nn
