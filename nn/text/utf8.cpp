#include "nn/text/utf8.h"

#include <algorithm>
#include <utility>

#include "autograd/error.h"

namespace gradus::nn {

FirstCharacter first_character(std::string_view text) {
  expect(!text.empty(), "utf8: an empty text has no first character");
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {Utf8::whole, 1, lead};

  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {Utf8::broken, 1, 0};
  char32_t code = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {Utf8::incomplete, i, 0};
    // The second byte has fewer values where all of them would allow overlong forms, surrogates or too large codes.
    const unsigned lowest = i > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned highest = i > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(i) < lowest || byte(i) > highest) return {Utf8::broken, 1, 0};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  return {Utf8::whole, length, code};
}

FirstCharacter first_character_or_byte(std::string_view text) {
  const FirstCharacter first = first_character(text);
  return first.state == Utf8::whole ? first : FirstCharacter{Utf8::broken, 1, 0};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const FirstCharacter first = first_character(text);
    if (first.state != Utf8::whole) return false;
    text.remove_prefix(first.length);
  }
  return true;
}

std::string_view without_half_character(std::string_view text) {
  constexpr std::size_t longest_half = 3;
  for (std::size_t length = std::min(longest_half, text.size()); length > 0; --length)
    if (first_character(text.substr(text.size() - length)).state == Utf8::incomplete)
      return text.substr(0, text.size() - length);
  return text;
}

std::string Utf8Stream::push(std::string_view bytes) {
  waiting_ += bytes;
  std::size_t ready = 0;
  while (ready < waiting_.size()) {
    const FirstCharacter next = first_character(std::string_view(waiting_).substr(ready));
    if (next.state == Utf8::incomplete) break;
    ready += next.length;
  }
  std::string out = waiting_.substr(0, ready);
  waiting_.erase(0, ready);
  return out;
}

std::string Utf8Stream::flush() { return std::exchange(waiting_, {}); }

static std::string escaped_byte(char byte) {
  if (byte == '\n') return "\\n";
  if (byte == '\r') return "\\r";
  if (byte == '\t') return "\\t";
  return message("\\x{:02X}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
}

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const FirstCharacter first = first_character(text);
    const bool control = first.code < 0x20 || (first.code >= 0x7F && first.code < 0xA0);
    for (const char byte : text.substr(0, first.length))
      out += first.state != Utf8::whole || control ? escaped_byte(byte)
             : byte == '\\' || byte == '"'             ? std::string{'\\', byte}
                                                       : std::string{byte};
    text.remove_prefix(first.length);
  }
  return out;
}

}  // namespace gradus::nn
