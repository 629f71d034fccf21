// Pre-tokens: a text cut into words, numbers, punctuation and blanks, before bytes are merged. No token crosses a cut.
//
// Tokenizer files give the cut as a regular expression. There are few in use, so each is known here by its text and
// matched by hand, in one pass; none needs a regular expression engine.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace gradus::nn {

enum class Pattern { none, gpt2, llama3, qwen2 };  // none: the whole text is one pre-token

std::string_view pattern_name(Pattern pattern);
// The expression as tokenizer.json spells it; "" for none.
std::string_view pattern_regex(Pattern pattern);
std::optional<Pattern> pattern_of_regex(std::string_view regex);
// Errors: a name that is not one of pattern_name's.
Pattern pattern_named(std::string_view name);

// The length in bytes of the pre-token that `text` begins with, at least 1. A byte that is not UTF-8 counts as a
// character that is neither letter, number nor space. Errors: the text is empty.
std::size_t first_pre_token(Pattern pattern, std::string_view text);

}  // namespace gradus::nn
