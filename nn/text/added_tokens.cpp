#include "nn/text/added_tokens.h"

#include <utility>

#include "autograd/error.h"
#include "nn/text/utf8.h"

namespace gradus::nn {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::string_view text = tokens_[i].text;
    expect(!text.empty() && text.size() <= longest, "tokenizer: a special token must have 1 to {} bytes, not {}",
           longest, text.size());
    expect(is_utf8(text), "tokenizer: special token {} must be UTF-8, so that a file can name it", i);
    expect(places_[text.size()].emplace(text, i).second,
           "tokenizer: the special token {} must be given once, not twice", json_string(text));
    first_bytes_.set(static_cast<unsigned char>(text[0]));
  }
}

const AddedToken* AddedTokens::longest_at(std::string_view text, Specials specials) const {
  if (!first_bytes_[static_cast<unsigned char>(text[0])]) return nullptr;
  for (const auto& [length, places] : places_) {
    if (length > text.size()) continue;
    const auto place = places.find(text.substr(0, length));
    if (place == places.end()) continue;
    const AddedToken& token = tokens_[place->second];
    if (!token.special || specials == Specials::allowed) return &token;
  }
  return nullptr;
}

void AddedTokens::split(std::string_view text, Specials specials,
                        const std::function<void(std::string_view)>& on_text,
                        const std::function<void(const AddedToken&)>& on_token) const {
  std::size_t begin = 0;  // of the text that is not yet handed on
  for (std::size_t i = 0; i < text.size();) {
    const AddedToken* token = longest_at(text.substr(i), specials);
    if (!token) {
      ++i;
      continue;
    }
    if (i > begin) on_text(text.substr(begin, i - begin));
    on_token(*token);
    begin = i += token->text.size();
  }
  if (begin < text.size()) on_text(text.substr(begin));
}

}  // namespace gradus::nn
