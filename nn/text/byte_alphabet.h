// Bytes spelled as printable characters, as byte-level vocabularies keep them in JSON: each printable character of
// Latin-1 stands for its own byte, and the 68 other bytes, in ascending order, for U+0100, U+0101, … So a space is "Ġ"
// and a line break "Ċ". Radford et al., "Language Models are Unsupervised Multitask Learners" (2019), code of GPT-2.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gradus::nn {

std::string spell_bytes(std::string_view bytes);
// nullopt: a character stands for no byte, or the spelling is not UTF-8.
std::optional<std::string> spelled_bytes(std::string_view spelling);

// The other way of spelling one: the byte that "<0x41>" stands for, as LLaMA's vocabularies have it; −1: not such a name.
int byte_of(std::string_view spelling);

// How LLaMA's vocabularies spell a space.
inline constexpr std::string_view space_mark = "▁";
std::string mark_spaces(std::string_view text);
std::string unmark_spaces(std::string_view spelling);

}  // namespace gradus::nn
