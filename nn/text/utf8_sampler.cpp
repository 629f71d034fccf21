#include "nn/text/utf8_sampler.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "nn/text/utf8.h"

namespace gradus::nn {

// What each token adds to a text: some tokenizers take a space from a text's first token.
static std::vector<std::string> token_texts(const Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  for (int id = 0; id < static_cast<int>(tokenizer.vocab_size()); ++id) {
    const int twice[] = {id, id};
    texts.push_back(tokenizer.decode(twice).substr(tokenizer.decode(std::span(twice, 1)).size()));
  }
  return texts;
}

static std::string half_character(const Tokenizer& tokenizer, std::span<const int> context) {
  constexpr std::size_t longest = 4;  // bytes of a character, so at most as many tokens
  const std::string text = tokenizer.decode(context.last(std::min(longest, context.size())));
  return text.substr(without_half_character(text).size());
}

static bool may_follow(const std::string& half, const std::string& token) {
  const std::string text = half + token;
  std::string_view rest = text;
  while (!rest.empty()) {
    const FirstCharacter first = first_character(rest);
    if (first.state != Utf8::whole) return first.state == Utf8::incomplete;
    rest.remove_prefix(first.length);
  }
  return true;
}

Sampler keep_utf8(Sampler sampler, const Tokenizer& tokenizer) {
  return [sampler = std::move(sampler), &tokenizer, texts = token_texts(tokenizer)](std::span<const Real> logits,
                                                                                   std::span<const int> context) {
    const std::string half = half_character(tokenizer, context);
    std::vector<Real> row(logits.begin(), logits.end());
    for (std::size_t id = 0; id < row.size(); ++id)
      if (id >= texts.size() || !may_follow(half, texts[id])) row[id] = -std::numeric_limits<Real>::infinity();
    return sampler(row, context);
  };
}

}  // namespace gradus::nn
