// What kind of character a code point is, as the patterns of pre-tokenizers ask: \p{L}, \p{N}, \s.
#pragma once

#include <span>

namespace gradus::nn {

enum class CharacterKind { letter, number, space, other };

// Letters and numbers are the general categories L* and N* of Unicode 14, spaces the property White_Space.
CharacterKind character_kind(char32_t code);

// From first to last, both included; a table's ranges ascend and do not touch.
struct CodeRange {
  char32_t first, last;
};
std::span<const CodeRange> letter_ranges();
std::span<const CodeRange> number_ranges();

}  // namespace gradus::nn
