#include <cmath>
#include <limits>
#include <vector>

#include "autograd/ops/attention_shapes.h"
#include "autograd/ops/binary.h"
#include "autograd/ops/dropout.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/repeat_heads.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/transpose.h"

namespace gradus {

// 1 where query t may not see key s: (T, S) where all sequences are alike, else (B, H, T, S).
static std::vector<int> hidden_keys(const AttentionShapes& e) {
  const std::size_t matrices = e.valid.empty() && e.visible_keys.empty() ? 1 : e.B * e.H;
  std::vector<int> hidden;
  hidden.reserve(matrices * e.T * e.S);
  for (std::size_t matrix = 0; matrix < matrices; ++matrix)
    for (std::size_t t = 0; t < e.T; ++t)
      for (std::size_t s = 0; s < e.S; ++s) {
        const std::size_t b = matrix / e.H;
        const bool padding = !e.valid.empty() && e.valid[b * e.S + s] == 0;
        hidden.push_back(s >= e.visible(b, t) || padding);
      }
  return hidden;
}

// weights = softmax(Q·Kᵀ / √D + bias, −∞ where hidden),   output = dropout(weights) · V,   each head by itself.
AttentionResult attention_composed(const Tensor& query, const Tensor& key, const Tensor& value, AttentionHeads heads,
                                   std::span<const int> valid, const AttentionExtras& extras) {
  const AttentionShapes e = attention_shapes("attention_composed", query, key, value, heads, valid, extras);
  const auto by_head = [&](const Tensor& x, std::size_t length, std::size_t n_heads) {  // (B, length, n_heads, D)
    return reshape(x, {e.B, length, n_heads, e.D});
  };
  const Tensor q = transpose(by_head(query, e.T, e.H), 1, 2);                           // (B, H, T, D)
  const Tensor k = transpose(repeat_heads(by_head(key, e.S, e.G), e.group), 1, 2);      // (B, H, S, D)
  const Tensor v = transpose(repeat_heads(by_head(value, e.S, e.G), e.group), 1, 2);    // (B, H, S, D)

  Tensor scores = scale(matmul(q, k, Op::none, Op::transpose), 1 / std::sqrt(static_cast<double>(e.D)));
  if (extras.bias.defined()) scores = scores + extras.bias;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor weights = softmax(masked_fill(scores, hidden_keys(e), -infinity));  // (B, H, T, S)
  const Tensor kept = extras.rng != nullptr ? dropout(weights, extras.dropout, *extras.rng) : weights;
  const Tensor output = transpose(matmul(kept, v), 1, 2);  // (B, T, H, D)
  return {reshape(output, query.shape()), weights};
}

}  // namespace gradus
