#include "nn/text/unicode.h"

#include <algorithm>

namespace gradus::nn {

static bool within(std::span<const CodeRange> ranges, char32_t code) {
  const auto place = std::ranges::lower_bound(ranges, code, {}, &CodeRange::last);
  return place != ranges.end() && place->first <= code;
}

static bool is_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
         code == 0x3000;
}

CharacterKind character_kind(char32_t code) {
  if (is_space(code)) return CharacterKind::space;
  if (code < 0x80) {
    const char32_t lower = code | 0x20;
    if (lower >= 'a' && lower <= 'z') return CharacterKind::letter;
    return code >= '0' && code <= '9' ? CharacterKind::number : CharacterKind::other;
  }
  if (within(letter_ranges(), code)) return CharacterKind::letter;
  return within(number_ranges(), code) ? CharacterKind::number : CharacterKind::other;
}

}  // namespace gradus::nn
