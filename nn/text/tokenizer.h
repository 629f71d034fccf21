// Text to token ids and back.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::nn {

// decode(encode(text)) is the text, byte for byte. The other way round is no promise: where a token stands for several
// characters, the ids of "a" and "b" decode to "ab", which may have an id of its own.
//
// Special tokens (begin, end, roles of a conversation) are ids that no text becomes by itself: a text that spells one is
// text, unless the caller allows it. Only so can a stranger's text not end a document or speak for someone else.
struct SpecialToken {
  std::string text;
  int id;
};
enum class Specials { as_text, allowed };

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Errors: a character that the vocabulary cannot express.
  virtual std::vector<int> encode(std::string_view text, Specials specials = Specials::as_text) const = 0;
  // Errors: an id outside 0 … vocab_size − 1.
  virtual std::string decode(std::span<const int> ids) const = 0;

  virtual std::size_t vocab_size() const = 0;
  virtual std::string name() const = 0;  // what `--tokenizer` calls it
  virtual std::string to_json() const = 0;
  virtual std::vector<SpecialToken> special_tokens() const { return {}; }
  virtual std::optional<int> begin_token() const { return std::nullopt; }  // encode() puts it first, where there is one
  virtual std::optional<int> end_token() const { return std::nullopt; }  // ends a text, where there is such a token
};

// The tokenizer whose to_json() the text is. The path is for messages only.
// Errors: FileError with the path, what was expected and what was found.
std::unique_ptr<Tokenizer> tokenizer_from_json(std::string_view text, std::string_view path);

// Valid UTF-8 as a JSON string: in quotes, control characters escaped.
std::string json_string(std::string_view text);

}  // namespace gradus::nn
