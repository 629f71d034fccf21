// Attention without the T×S matrix. Query rows are taken a block at a time, and a block's weights are forgotten once
// they are used; backward makes them again. Heads are read and written in place, as columns of (B, T, H·D).
//
// The work is cut over pairs (sequence, key and value head): the pair's query heads are the only ones that add to its
// dK and dV. Where there are fewer pairs than threads, some threads have nothing to do.
#include "autograd/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "autograd/exp.h"
#include "autograd/gemm.h"
#include "autograd/graph.h"
#include "autograd/ops/attention_block.h"

namespace gradus {

static void attention_backward(const Tensor& y, const Tensor& query, const Tensor& key, const Tensor& value,
                               const Tensor& bias, const Tensor& shifts, const Tensor& inverses,
                               const std::optional<AttentionDropout>& dropout, const AttentionShapes& e);

// For every head and query t:   p = softmax over the visible keys of ⟨q, k⟩ / √D + bias,   y = Σ f p v,
// where dropout makes the factors f, and without it they are 1.
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, AttentionHeads heads,
                 std::span<const int> valid, const AttentionExtras& extras) {
  const AttentionShapes e = attention_shapes("attention", query, key, value, heads, valid, extras);
  const Tensor bias = extras.bias;
  std::optional<AttentionDropout> dropout;
  if (extras.rng != nullptr && extras.dropout > 0)
    dropout = {extras.dropout, extras.rng->reserve(e.B * e.H * e.T * e.S)};

  Tensor y(query.shape()), shifts({e.B, e.H, e.T}), inverses(shifts.shape());
  Tensor scratch({thread_count(), block_rows + 1, e.reach});
  const Real* const Q = query.values().data();
  const Real* const K = key.values().data();
  const Real* const V = value.values().data();
  const Real* const bias_data = bias.defined() ? bias.values().data() : nullptr;
  Real* const Y = y.mutable_values().data();
  Real* const M = shifts.mutable_values().data();
  Real* const I = inverses.mutable_values().data();
  Real* const W = scratch.mutable_values().data();

  for_each_block(e, 2, [&](const AttentionBlock& block) {
    Real* const P = W + block.piece * (block_rows + 1) * e.reach;
    Real* const F = P + block_rows * e.reach;
    block_scores(e, block, Q, K, bias_data, P);
    for (std::size_t row = 0; row < block.rows; ++row) {
      Real* const p = P + row * e.reach;
      const std::size_t visible = e.visible(block.b, block.first + row);
      const auto [shift, inverse] = softmax_row(p, visible, block.keys);
      M[block.row_at + row] = shift;
      I[block.row_at + row] = inverse;
      if (!dropout) continue;
      dropout_factors(*dropout, block.row_at + row, e.S, visible, F);
      for (std::size_t s = 0; s < visible; ++s) p[s] *= F[s];
    }
    gemm({.m = block.rows, .n = e.D, .k = block.keys, .a = P, .a_stride = e.reach, .b = V + block.key_at,
          .b_stride = e.G * e.D, .c = Y + block.query_at, .c_stride = e.H * e.D});
  });

  std::vector<Tensor> inputs{query, key, value};
  if (bias.defined()) inputs.push_back(bias);
  return record(y, "attention", inputs, [query, key, value, bias, shifts, inverses, dropout, e](const Tensor& out) {
    attention_backward(out, query, key, value, bias, shifts, inverses, dropout, e);
  });
}

// One head has the scores s = q kᵀ / √D + bias, the weights p = exp(s − max s) / Σ exp(s − max s) where visible and
// 0 elsewhere, and y = (f ⊙ p) v. The product gives
//   dv += (f ⊙ p)ᵀ dy      dp = f ⊙ dy vᵀ
// Softmax has ∂pⱼ/∂sᵢ = pⱼ (δᵢⱼ − pᵢ), and Σⱼ pⱼ dpⱼ = Σⱼ fⱼ pⱼ ⟨dy, vⱼ⟩ = ⟨dy, y⟩, so every row needs one number more:
//   ds = p ⊙ (dp − ⟨dy, y⟩)
// and the scores give
//   dq += ds k / √D        dk += dsᵀ q / √D        dbias += ds
// A row that sees nothing has p = 0, and adds nothing to any gradient. The draws of f cost no memory: they are made
// again.
static void attention_backward(const Tensor& y, const Tensor& query, const Tensor& key, const Tensor& value,
                               const Tensor& bias, const Tensor& shifts, const Tensor& inverses,
                               const std::optional<AttentionDropout>& dropout, const AttentionShapes& e) {
  Tensor scratch({thread_count(), 2 * block_rows + 1, e.reach});
  const Real* const Q = query.values().data();
  const Real* const K = key.values().data();
  const Real* const V = value.values().data();
  const Real* const bias_data = bias.defined() ? bias.values().data() : nullptr;
  const Real* const Y = y.values().data();
  const Real* const DY = y.grad().data();
  const Real* const M = shifts.values().data();
  const Real* const I = inverses.values().data();
  Real* const W = scratch.mutable_values().data();
  Real* const DQ = query.requires_grad() ? query.mutable_grad().data() : nullptr;
  Real* const DK = key.requires_grad() ? key.mutable_grad().data() : nullptr;
  Real* const DV = value.requires_grad() ? value.mutable_grad().data() : nullptr;
  Real* const DB = bias.defined() && bias.requires_grad() ? bias.mutable_grad().data() : nullptr;
  const std::size_t query_stride = e.H * e.D, key_stride = e.G * e.D;
  const Real inv_sqrt_d = 1 / std::sqrt(static_cast<Real>(e.D));

  for_each_block(e, 5, [&](const AttentionBlock& block) {
    Real* const P = W + block.piece * (2 * block_rows + 1) * e.reach;
    Real* const DS = P + block_rows * e.reach;
    Real* const F = DS + block_rows * e.reach;
    block_scores(e, block, Q, K, bias_data, P);
    gemm({.op_b = Op::transpose, .m = block.rows, .n = block.keys, .k = e.D,
          .a = DY + block.query_at, .a_stride = query_stride, .b = V + block.key_at, .b_stride = key_stride,
          .c = DS, .c_stride = e.reach});

    for (std::size_t row = 0; row < block.rows; ++row) {
      Real* const p = P + row * e.reach;
      Real* const ds = DS + row * e.reach;
      const Real* const y_row = Y + block.query_at + row * query_stride;
      const Real* const dy_row = DY + block.query_at + row * query_stride;
      Real dy_dot_y = 0;
#pragma omp simd reduction(+ : dy_dot_y)
      for (std::size_t i = 0; i < e.D; ++i) dy_dot_y += dy_row[i] * y_row[i];

      const Real shift = M[block.row_at + row], inverse = I[block.row_at + row];
      const std::size_t visible = e.visible(block.b, block.first + row), n = whole_vectors(visible, block.keys);
      if (dropout) {
        dropout_factors(*dropout, block.row_at + row, e.S, visible, F);
        for (std::size_t s = 0; s < visible; ++s) ds[s] *= F[s];
      }
      for (std::size_t s = 0; s < n; ++s) {
        p[s] = fast_exp(p[s] - shift) * inverse;
        ds[s] = p[s] * (ds[s] - dy_dot_y);
      }
      std::fill(p + visible, p + block.keys, Real{0});
      std::fill(ds + visible, ds + block.keys, Real{0});
      for (std::size_t s = 0; dropout && s < visible; ++s) p[s] *= F[s];
      for (std::size_t s = 0; DB != nullptr && s < visible; ++s) DB[(block.row_at + row) * e.S + s] += ds[s];
    }

    if (DV != nullptr)
      gemm({.op_a = Op::transpose, .m = block.keys, .n = e.D, .k = block.rows, .a = P, .a_stride = e.reach,
            .b = DY + block.query_at, .b_stride = query_stride, .c = DV + block.key_at, .c_stride = key_stride,
            .beta = 1});
    if (DQ != nullptr)
      gemm({.m = block.rows, .n = e.D, .k = block.keys, .a = DS, .a_stride = e.reach, .b = K + block.key_at,
            .b_stride = key_stride, .c = DQ + block.query_at, .c_stride = query_stride, .alpha = inv_sqrt_d,
            .beta = 1});
    if (DK != nullptr)
      gemm({.op_a = Op::transpose, .m = block.keys, .n = e.D, .k = block.rows, .a = DS, .a_stride = e.reach,
            .b = Q + block.query_at, .b_stride = query_stride, .c = DK + block.key_at, .c_stride = key_stride,
            .alpha = inv_sqrt_d, .beta = 1});
  });
}

}  // namespace gradus
