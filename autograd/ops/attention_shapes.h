// What both forms of attention ask of their arguments.
#pragma once

#include <string_view>
#include <vector>

#include "autograd/ops/attention.h"

namespace gradus {

struct AttentionShapes {
  std::size_t B, T, S;            // sequences, queries and keys of each
  std::size_t H, G, D;            // query heads, key and value heads, numbers of a head
  std::size_t group;              // H / G query heads read one key and value head
  std::vector<int> valid;         // (B, S), or empty: all keys are tokens
  std::vector<int> visible_keys;  // (B, T), or empty: the queries are the last T of S positions
  std::size_t reach;              // the most keys that any query may see

  // Query t of sequence b may see this many keys, from the first on.
  std::size_t visible(std::size_t b, std::size_t t) const {
    return visible_keys.empty() ? S - T + t + 1 : static_cast<std::size_t>(visible_keys[b * T + t]);
  }
};

// Errors: those of attention, in the name of `op`.
AttentionShapes attention_shapes(std::string_view op, const Tensor& query, const Tensor& key, const Tensor& value,
                                 AttentionHeads heads, std::span<const int> valid, const AttentionExtras& extras);

}  // namespace gradus
