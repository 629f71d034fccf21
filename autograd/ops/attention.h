// Causal grouped-query attention: Vaswani et al., "Attention Is All You Need" (2017), equation 1; heads in groups that
// share keys and values: Ainslie et al., "GQA" (2023).
//
// Query head h reads the keys and values of head h / (n_heads / n_kv_heads). The T queries are the last T of the S
// positions, so query t sees the keys 0 … S − T + t. A query that may see no key gives zeros and zero gradient.
#pragma once

#include <span>

#include "autograd/tensor.h"

namespace gradus {

struct AttentionHeads {
  std::size_t n_heads;     // H, of the queries
  std::size_t n_kv_heads;  // G, of the keys and values; divides H
};

// query (B, T, H·D), key and value (B, S, G·D) with S ≥ T, valid (B, S) numbers, 1 = token, 0 = padding, or empty: all
// tokens → (B, T, H·D). Scores are scaled by 1/√D. Memory grows with S, not with T·S.
// Errors: shapes that do not fit, naming them; n_heads not a multiple of n_kv_heads.
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, AttentionHeads heads,
                 std::span<const int> valid = {});

// The same from primitive operations, with the whole T×S matrix of weights, which it can hand out: (B, H, T, S).
struct AttentionResult {
  Tensor output;   // (B, T, H·D)
  Tensor weights;  // (B, H, T, S), each row sums to 1, or to 0 where there is nothing to see
};
AttentionResult attention_composed(const Tensor& query, const Tensor& key, const Tensor& value, AttentionHeads heads,
                                   std::span<const int> valid = {});

}  // namespace gradus
