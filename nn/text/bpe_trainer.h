// Learning merges from texts: of all neighbours in all pre-tokens, the pair that is there most often becomes a token,
// again and again.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/text/bpe_tokenizer.h"

namespace gradus::nn {

struct BpeTrainerOptions {
  std::size_t vocab_size;                  // bytes, merges and special tokens together
  Pattern pattern = Pattern::gpt2;
  std::vector<std::string> specials = {};  // no merge crosses them, and nothing is counted in them
};

// Ids 0 … 255 are the bytes, then come the tokens of the merges in the order in which they were learnt, then the
// special tokens. Among pairs that are there equally often, the one of the greater left token is merged, then the one of the
// greater right token, in the order of their bytes; so the same texts give the same tokenizer everywhere.
// Merging stops early where no pair is left; the vocabulary is then smaller than was asked for.
// Time: proportional to the texts' length, and to n log n of their different pre-tokens' length n.
// Errors: fewer tokens than bytes and specials; what AddedTokens refuses.
BpeTokenizer train_bpe(std::span<const std::string_view> texts, const BpeTrainerOptions& options);

}  // namespace gradus::nn
