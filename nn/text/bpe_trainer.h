// Learning merges from texts: of all neighbours in all pre-tokens, the pair that is there most often becomes a token,
// again and again.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nn/text/added_tokens.h"
#include "nn/text/bpe_tokenizer.h"

namespace gradus::nn {

struct BpeTrainerOptions {
  std::size_t vocab_size;                  // bytes, merges and special tokens together
  Pattern pattern = Pattern::gpt2;
  std::vector<std::string> specials = {};  // no merge crosses them, and nothing is counted in them
};

// Reads texts one after the other and learns from all of them. It keeps each different pre-token once, with its count, so
// the texts may be larger than memory.
//
// Ids 0 … 255 are the bytes, then come the tokens of the merges in the order in which they were learnt, then the
// special tokens. Among pairs that are there equally often, the one of the greater left token is merged, then the one of the
// greater right token, in the order of their bytes; so the same texts give the same tokenizer everywhere.
// Merging stops early where no pair is left; the vocabulary is then smaller than was asked for.
// Time: proportional to the texts' length, and to n log n of their different pre-tokens' length n.
class BpeTrainer {
 public:
  // Errors: fewer tokens than bytes and specials; what AddedTokens refuses.
  explicit BpeTrainer(const BpeTrainerOptions& options);

  void read(std::string_view text);
  BpeTokenizer train() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  BpeTrainerOptions options_;
  AddedTokens specials_;
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> words_;
};

// All of it, for texts that are in memory.
BpeTokenizer train_bpe(std::span<const std::string_view> texts, const BpeTrainerOptions& options);

}  // namespace gradus::nn
