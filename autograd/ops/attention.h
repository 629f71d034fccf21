// Causal grouped-query attention: Vaswani et al., "Attention Is All You Need" (2017), equation 1; heads in groups that
// share keys and values: Ainslie et al., "GQA" (2023).
//
// Query head h reads the keys and values of head h / (n_heads / n_kv_heads). The T queries are the last T of the S
// positions, so query t sees the keys 0 … S − T + t, unless the call says otherwise. A query that may see no key gives
// zeros and zero gradient.
#pragma once

#include <span>

#include "autograd/random.h"
#include "autograd/tensor.h"

namespace gradus {

struct AttentionHeads {
  std::size_t n_heads;     // H, of the queries
  std::size_t n_kv_heads;  // G, of the keys and values; divides H
};

// What a call may have besides.
struct AttentionExtras {
  // Added to the scaled scores.  (B, H, T, S), or undefined: nothing
  Tensor bias = {};
  // Each weight is zero with probability `dropout` and divided by 1 − dropout otherwise. Null: none is dropped.
  double dropout = 0;
  Rng* rng = nullptr;
  // (B, T): how many keys, from the first on, each query may see; empty: S − T + t + 1. With these numbers S may be
  // anything, and keys that nobody sees are not read: a buffer that is still being filled will do.
  std::span<const int> visible = {};
};

// query (B, T, H·D), key and value (B, S, G·D) with S ≥ T, valid (B, S) numbers, 1 = token, 0 = padding, or empty: all
// tokens → (B, T, H·D). Scores are scaled by 1/√D. Memory grows with S, not with T·S.
// Errors: shapes that do not fit, naming them; n_heads not a multiple of n_kv_heads; valid holds anything but 0 and 1.
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, AttentionHeads heads,
                 std::span<const int> valid = {}, const AttentionExtras& extras = {});

// The same from primitive operations, with the whole T×S matrix of weights, which it can hand out: (B, H, T, S).
// It reads every key, seen or not.
struct AttentionResult {
  Tensor output;   // (B, T, H·D)
  Tensor weights;  // (B, H, T, S) before dropout, each row sums to 1, or to 0 where there is nothing to see
};
AttentionResult attention_composed(const Tensor& query, const Tensor& key, const Tensor& value, AttentionHeads heads,
                                   std::span<const int> valid = {}, const AttentionExtras& extras = {});

}  // namespace gradus
