#include "nn/text/byte_alphabet.h"

#include <array>

#include "nn/text/utf8.h"

namespace gradus::nn {

namespace {

constexpr int first_stand_in = 256, end_of_alphabet = 256 + 68;

struct Alphabet {
  std::array<int, 256> character{};              // of each byte
  std::array<int, end_of_alphabet> byte{};       // of each character; −1: none

  constexpr Alphabet() {
    byte.fill(-1);
    int stand_in = first_stand_in;
    for (int b = 0; b < 256; ++b) {
      const bool printable = (b > 0x20 && b < 0x7F) || (b > 0xA0 && b != 0xAD);
      character[b] = printable ? b : stand_in++;
      byte[character[b]] = b;
    }
  }
};

constexpr Alphabet alphabet;

}  // namespace

std::string spell_bytes(std::string_view bytes) {
  std::string spelling;
  for (const char c : bytes) {
    const int code = alphabet.character[static_cast<unsigned char>(c)];
    if (code < 0x80) {
      spelling += static_cast<char>(code);
    } else {
      spelling += static_cast<char>(0xC0 | code >> 6);
      spelling += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return spelling;
}

std::optional<std::string> spelled_bytes(std::string_view spelling) {
  std::string bytes;
  while (!spelling.empty()) {
    const FirstCharacter first = first_character(spelling);
    if (first.state != Utf8::whole || first.code >= end_of_alphabet || alphabet.byte[first.code] < 0) return std::nullopt;
    bytes += static_cast<char>(alphabet.byte[first.code]);
    spelling.remove_prefix(first.length);
  }
  return bytes;
}

int byte_of(std::string_view spelling) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (spelling.size() != 6 || !spelling.starts_with("<0x") || spelling[5] != '>') return -1;
  const std::size_t high = digits.find(spelling[3]), low = digits.find(spelling[4]);
  return high == digits.npos || low == digits.npos ? -1 : static_cast<int>(16 * high + low);
}

static std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at; (at = text.find(from)) != text.npos; text.remove_prefix(at + from.size()))
    result.append(text.substr(0, at)).append(to);
  return result.append(text);
}

std::string mark_spaces(std::string_view text) { return replaced(text, " ", space_mark); }
std::string unmark_spaces(std::string_view spelling) { return replaced(spelling, space_mark, " "); }

}  // namespace gradus::nn
