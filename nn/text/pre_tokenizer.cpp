#include "nn/text/pre_tokenizer.h"

#include "autograd/error.h"
#include "nn/text/unicode.h"
#include "nn/text/utf8.h"

namespace gradus::nn {

namespace {

struct KnownPattern {
  Pattern pattern;
  std::string_view name, regex;
};

constexpr KnownPattern known_patterns[] = {
    {Pattern::none, "none", ""},
    {Pattern::gpt2, "gpt2", R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    {Pattern::llama3, "llama3",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
     R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {Pattern::qwen2, "qwen2",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
     R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
};

struct Character {
  std::size_t length;  // in bytes; 0 at the end of the text
  char32_t code;       // 0 for a byte that is not UTF-8
  CharacterKind kind;

  bool is(CharacterKind wanted) const { return length > 0 && kind == wanted; }
  bool breaks_line() const { return length > 0 && (code == '\r' || code == '\n'); }
};

}  // namespace

std::string_view pattern_name(Pattern pattern) { return known_patterns[static_cast<std::size_t>(pattern)].name; }

std::string_view pattern_regex(Pattern pattern) { return known_patterns[static_cast<std::size_t>(pattern)].regex; }

std::optional<Pattern> pattern_of_regex(std::string_view regex) {
  for (const KnownPattern& known : known_patterns)
    if (known.pattern != Pattern::none && known.regex == regex) return known.pattern;
  return std::nullopt;
}

Pattern pattern_named(std::string_view name) {
  for (const KnownPattern& known : known_patterns)
    if (known.name == name) return known.pattern;
  throw ShapeError(message("pre-tokenizer: \"{}\" must be one of gpt2, llama3, qwen2 and none", name));
}

static Character character_at(std::string_view text, std::size_t offset) {
  if (offset == text.size()) return {0, 0, CharacterKind::other};
  const FirstCharacter first = first_character_or_byte(text.substr(offset));
  return {first.length, first.code, character_kind(first.code)};  // 0 is neither letter, number nor space
}

// Where the run of characters of one kind ends that begins at `offset`.
static std::size_t run_end(std::string_view text, std::size_t offset, CharacterKind kind) {
  for (Character next; (next = character_at(text, offset)).is(kind);) offset += next.length;
  return offset;
}

// 's|'t|'re|'ve|'m|'ll|'d, in small letters or in any. 0: no match.
static std::size_t contraction(std::string_view text, bool any_case) {
  if (text[0] != '\'') return 0;
  const auto letter = [&](std::size_t offset) {
    const char c = offset < text.size() ? text[offset] : '\0';
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
  };
  const char first = letter(1), second = letter(2);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if ((second == 'e' && (first == 'r' || first == 'v')) || (second == 'l' && first == 'l')) return 3;
  // The long s, U+017F, is an s in Unicode's comparison without case.
  return any_case && text.substr(1).starts_with("\xC5\xBF") ? 3 : 0;
}

// \s+(?!\S)|\s+ : white space, but its last character is left to the word that follows.
static std::size_t white_space(std::string_view text) {
  std::size_t end = 0, last = 0;
  for (Character next; (next = character_at(text, end)).is(CharacterKind::space); end += next.length) last = end;
  return end == text.size() || last == 0 ? end : last;
}

// 's|…| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
static std::size_t match_gpt2(std::string_view text) {
  if (const std::size_t length = contraction(text, false)) return length;
  const std::size_t word = text[0] == ' ' ? 1 : 0;
  const Character first = character_at(text, word);
  if (first.length > 0 && first.kind != CharacterKind::space) return run_end(text, word, first.kind);
  return white_space(text);
}

// (?i:'s|…)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
static std::size_t match_llama3(std::string_view text, int digits) {
  using enum CharacterKind;
  if (const std::size_t length = contraction(text, true)) return length;
  const Character first = character_at(text, 0), second = character_at(text, first.length);
  if (first.kind == letter) return run_end(text, 0, letter);
  if (first.kind != number && !first.breaks_line() && second.is(letter)) return run_end(text, first.length, letter);
  if (first.kind == number) {
    std::size_t end = first.length;
    for (Character next; --digits > 0 && (next = character_at(text, end)).is(number);) end += next.length;
    return end;
  }
  if (first.kind == other || (first.code == ' ' && second.is(other))) {
    std::size_t end = run_end(text, first.length, other);
    while (character_at(text, end).breaks_line()) ++end;
    return end;
  }
  std::size_t lines = 0;  // \s*[\r\n]+ reaches as far as the last line break of the white space
  std::size_t end = 0;
  for (Character next; (next = character_at(text, end)).is(space);) {
    end += next.length;
    if (next.breaks_line()) lines = end;
  }
  return lines > 0 ? lines : white_space(text);
}

std::size_t first_pre_token(Pattern pattern, std::string_view text) {
  expect(!text.empty(), "pre-tokenizer: an empty text has no first pre-token");
  switch (pattern) {
    case Pattern::gpt2: return match_gpt2(text);
    case Pattern::llama3: return match_llama3(text, 3);
    case Pattern::qwen2: return match_llama3(text, 1);
    case Pattern::none: break;
  }
  return text.size();
}

}  // namespace gradus::nn
