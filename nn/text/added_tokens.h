// Tokens that are found in a text before anything is merged, and so are never split: special tokens, and words that
// somebody added to a finished vocabulary.
#pragma once

#include <bitset>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "nn/text/tokenizer.h"

namespace gradus::nn {

struct AddedToken {
  std::string text;
  int id;
  bool special = true;  // others are found in every text, these only where the caller allows it
};

class AddedTokens {
 public:
  static constexpr std::size_t longest = 512;  // bytes

  // Errors: a token is empty, longer than `longest`, not UTF-8, or there twice.
  explicit AddedTokens(std::vector<AddedToken> tokens);
  AddedTokens(AddedTokens&&) = default;  // a copy's places_ would look into the original

  const std::vector<AddedToken>& list() const { return tokens_; }

  // Calls on_text with each stretch of text between tokens, never an empty one, and on_token with each token, in the
  // order of the text. Where several tokens begin, the longest counts.
  void split(std::string_view text, Specials specials, const std::function<void(std::string_view)>& on_text,
             const std::function<void(const AddedToken&)>& on_token) const;

 private:
  const AddedToken* longest_at(std::string_view text, Specials specials) const;  // null: none begins here

  std::vector<AddedToken> tokens_;
  std::bitset<256> first_bytes_;
  // By length, the longest first; then by text, which is tokens_'s own.
  std::map<std::size_t, std::unordered_map<std::string_view, std::size_t>, std::greater<>> places_;
};

}  // namespace gradus::nn
