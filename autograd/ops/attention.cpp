// Attention without the T×S matrix. Query rows are taken a block at a time, and a block's weights are forgotten once
// they are used; backward makes them again. Heads are read and written in place, as columns of (B, T, H·D).
//
// The work is cut over pairs (sequence, key and value head): the pair's query heads are the only ones that add to its
// dK and dV. Where there are fewer pairs than threads, some threads have nothing to do.
#include "autograd/ops/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "autograd/error.h"
#include "autograd/exp.h"
#include "autograd/gemm.h"
#include "autograd/graph.h"
#include "autograd/ops/attention_shapes.h"
#include "autograd/parallel.h"

namespace gradus {

// Fewer rows compute fewer scores above the causal diagonal, more rows make larger products: 16 to 64 were measured.
static constexpr std::size_t block_rows = 32;
static constexpr Real infinity = std::numeric_limits<Real>::infinity();

namespace {

// Weight (b, h, t, s) falls or stays by the draw of its place in (B, H, T, S).
struct Dropout {
  double p;
  RandomRange draws;
};

// Some query rows of one head, and the keys that the last of them may see.
struct Block {
  std::size_t piece;           // of the parallel loop: which scratch memory is free
  std::size_t b, first, rows;  // sequence, first row and number of rows
  std::size_t keys;
  std::size_t query_at;  // offsets of the first row of this head in (B, T, H·D),
  std::size_t key_at;    // of its first key in (B, S, G·D),
  std::size_t row_at;    // and of its first row in (B, H, T)
};

}  // namespace

static void attention_backward(const Tensor& y, const Tensor& query, const Tensor& key, const Tensor& value,
                               const Tensor& bias, const Tensor& log_sum, const std::optional<Dropout>& dropout,
                               const AttentionShapes& e);

// Calls body(block) for every block. `products` is the number of matrix products that the body takes.
template <class Body>
static void for_each_block(const AttentionShapes& e, std::size_t products, const Body& body) {
  const std::size_t work = products * e.group * e.T * e.reach * e.D;
  parallel_pieces(e.B * e.G, work, [&](std::size_t piece, std::size_t begin, std::size_t end) {
    for (std::size_t pair = begin; pair < end; ++pair) {
      const std::size_t b = pair / e.G, g = pair % e.G;
      for (std::size_t h = g * e.group; h < (g + 1) * e.group; ++h)
        for (std::size_t first = 0; first < e.T; first += block_rows) {
          const std::size_t rows = std::min(block_rows, e.T - first);
          std::size_t keys = 0;
          for (std::size_t t = first; t < first + rows; ++t) keys = std::max(keys, e.visible(b, t));
          body(Block{piece, b, first, rows, keys, ((b * e.T + first) * e.H + h) * e.D, (b * e.S * e.G + g) * e.D,
                     (b * e.H + h) * e.T + first});
        }
    }
  });
}

// scores = Q·Kᵀ / √D + bias, and −∞ at padding.  (rows, keys), `reach` numbers from row to row
static void block_scores(const AttentionShapes& e, const Block& block, const Real* Q, const Real* K, const Real* bias,
                         Real* scores) {
  gemm({.op_b = Op::transpose, .m = block.rows, .n = block.keys, .k = e.D,
        .a = Q + block.query_at, .a_stride = e.H * e.D, .b = K + block.key_at, .b_stride = e.G * e.D,
        .c = scores, .c_stride = e.reach, .alpha = 1 / std::sqrt(static_cast<Real>(e.D))});
  for (std::size_t row = 0; bias != nullptr && row < block.rows; ++row) {
    const Real* const bias_row = bias + (block.row_at + row) * e.S;
    for (std::size_t s = 0; s < block.keys; ++s) scores[row * e.reach + s] += bias_row[s];
  }
  if (e.valid.empty()) return;
  const int* const is_token = e.valid.data() + block.b * e.S;
  for (std::size_t row = 0; row < block.rows; ++row)
    for (std::size_t s = 0; s < block.keys; ++s)
      scores[row * e.reach + s] = is_token[s] ? scores[row * e.reach + s] : -infinity;
}

// What dropout multiplies a row of weights by: 0 where one falls, 1 / (1 − p) where it stays.
static void dropout_factors(const Dropout& dropout, std::size_t row_at, std::size_t S, std::size_t count,
                            Real* factors) {
  constexpr std::size_t chunk = 256;
  std::array<double, chunk> numbers;
  const Real stays = static_cast<Real>(1 / (1 - dropout.p));
  const std::size_t first = row_at * S, end = first + count;
  for (std::size_t at = first - first % 4; at < end; at += chunk) {
    const std::size_t stop = std::min(at + chunk, end);
    dropout.draws.fill(at, std::span(numbers).first(stop - at));
    for (std::size_t item = std::max(at, first); item < stop; ++item)
      factors[item - first] = numbers[item - at] >= dropout.p ? stays : 0;
  }
}

// A scalar tail of exponentials would cost as much as the row, so loops over one go on to the end of a vector.
static std::size_t whole_vectors(std::size_t visible, std::size_t keys) {
  constexpr std::size_t widest = 16;
  return std::min(keys, (visible + widest - 1) / widest * widest);
}

// p ← exp(p) / Σ exp(p) → ln Σ exp(p), over the first `visible` of the scores; the other keys' weights are 0.
// A row of only −∞ becomes zeros, and its logarithm is −∞.
static Real softmax_row(Real* p, std::size_t visible, std::size_t keys) {
  Real largest = -infinity;
#pragma omp simd reduction(max : largest)
  for (std::size_t s = 0; s < visible; ++s) largest = std::max(largest, p[s]);
  const Real shift = largest == -infinity ? 0 : largest;
  const std::size_t n = whole_vectors(visible, keys);
  for (std::size_t s = 0; s < n; ++s) p[s] = fast_exp(p[s] - shift);
  std::fill(p + visible, p + keys, Real{0});
  Real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t s = 0; s < n; ++s) sum += p[s];
  const Real inverse = sum == 0 ? 0 : 1 / sum;
  for (std::size_t s = 0; s < n; ++s) p[s] *= inverse;
  return shift + std::log(sum);
}

// For every head and query t:   p = softmax over the visible keys of ⟨q, k⟩ / √D + bias,   y = Σ f p v,
// where dropout makes the factors f, and without it they are 1.
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, AttentionHeads heads,
                 std::span<const int> valid, const AttentionExtras& extras) {
  const AttentionShapes e = attention_shapes("attention", query, key, value, heads, valid, extras);
  const Tensor bias = extras.bias;
  std::optional<Dropout> dropout;
  if (extras.rng != nullptr && extras.dropout > 0)
    dropout = {extras.dropout, extras.rng->reserve(e.B * e.H * e.T * e.S)};

  Tensor y(query.shape()), log_sum({e.B, e.H, e.T}), scratch({thread_count(), block_rows + 1, e.reach});
  const Real* const Q = query.values().data();
  const Real* const K = key.values().data();
  const Real* const V = value.values().data();
  const Real* const bias_data = bias.defined() ? bias.values().data() : nullptr;
  Real* const Y = y.mutable_values().data();
  Real* const L = log_sum.mutable_values().data();
  Real* const W = scratch.mutable_values().data();

  for_each_block(e, 2, [&](const Block& block) {
    Real* const P = W + block.piece * (block_rows + 1) * e.reach;
    Real* const F = P + block_rows * e.reach;
    block_scores(e, block, Q, K, bias_data, P);
    for (std::size_t row = 0; row < block.rows; ++row) {
      Real* const p = P + row * e.reach;
      const std::size_t visible = e.visible(block.b, block.first + row);
      L[block.row_at + row] = softmax_row(p, visible, block.keys);
      if (!dropout) continue;
      dropout_factors(*dropout, block.row_at + row, e.S, visible, F);
      for (std::size_t s = 0; s < visible; ++s) p[s] *= F[s];
    }
    gemm({.m = block.rows, .n = e.D, .k = block.keys, .a = P, .a_stride = e.reach, .b = V + block.key_at,
          .b_stride = e.G * e.D, .c = Y + block.query_at, .c_stride = e.H * e.D});
  });

  std::vector<Tensor> inputs{query, key, value};
  if (bias.defined()) inputs.push_back(bias);
  return record(y, "attention", inputs, [query, key, value, bias, log_sum, dropout, e](const Tensor& out) {
    attention_backward(out, query, key, value, bias, log_sum, dropout, e);
  });
}

// One head has the scores s = q kᵀ / √D + bias, the weights p = exp(s − log_sum) where visible and 0 elsewhere, and
// y = (f ⊙ p) v. The product gives
//   dv += (f ⊙ p)ᵀ dy      dp = f ⊙ dy vᵀ
// Softmax has ∂pⱼ/∂sᵢ = pⱼ (δᵢⱼ − pᵢ), and Σⱼ pⱼ dpⱼ = Σⱼ fⱼ pⱼ ⟨dy, vⱼ⟩ = ⟨dy, y⟩, so every row needs one number more:
//   ds = p ⊙ (dp − ⟨dy, y⟩)
// and the scores give
//   dq += ds k / √D        dk += dsᵀ q / √D        dbias += ds
// A row that sees nothing has p = 0, and adds nothing to any gradient. The draws of f cost no memory: they are made again.
static void attention_backward(const Tensor& y, const Tensor& query, const Tensor& key, const Tensor& value,
                               const Tensor& bias, const Tensor& log_sum, const std::optional<Dropout>& dropout,
                               const AttentionShapes& e) {
  Tensor scratch({thread_count(), 2 * block_rows + 1, e.reach});
  const Real* const Q = query.values().data();
  const Real* const K = key.values().data();
  const Real* const V = value.values().data();
  const Real* const bias_data = bias.defined() ? bias.values().data() : nullptr;
  const Real* const Y = y.values().data();
  const Real* const DY = y.grad().data();
  const Real* const L = log_sum.values().data();
  Real* const W = scratch.mutable_values().data();
  Real* const DQ = query.requires_grad() ? query.mutable_grad().data() : nullptr;
  Real* const DK = key.requires_grad() ? key.mutable_grad().data() : nullptr;
  Real* const DV = value.requires_grad() ? value.mutable_grad().data() : nullptr;
  Real* const DB = bias.defined() && bias.requires_grad() ? bias.mutable_grad().data() : nullptr;
  const std::size_t query_stride = e.H * e.D, key_stride = e.G * e.D;
  const Real inv_sqrt_d = 1 / std::sqrt(static_cast<Real>(e.D));

  for_each_block(e, 5, [&](const Block& block) {
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

      const Real log_sum_row = L[block.row_at + row];
      const std::size_t visible = log_sum_row == -infinity ? 0 : e.visible(block.b, block.first + row);
      if (dropout) {
        dropout_factors(*dropout, block.row_at + row, e.S, visible, F);
        for (std::size_t s = 0; s < visible; ++s) ds[s] *= F[s];
      }
      const std::size_t n = whole_vectors(visible, block.keys);
      for (std::size_t s = 0; s < n; ++s) {
        p[s] = fast_exp(p[s] - log_sum_row);
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
