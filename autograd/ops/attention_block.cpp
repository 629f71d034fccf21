#include "autograd/ops/attention_block.h"

#include <array>
#include <cmath>

#include "autograd/exp.h"
#include "autograd/gemm.h"

namespace gradus {

static constexpr Real infinity = std::numeric_limits<Real>::infinity();

void block_scores(const AttentionShapes& e, const AttentionBlock& block, const Real* Q, const Real* K, const Real* bias,
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

SoftmaxRow softmax_row(Real* p, std::size_t visible, std::size_t keys) {
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
  return {shift, inverse};
}

void dropout_factors(const AttentionDropout& dropout, std::size_t row_at, std::size_t S, std::size_t count,
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

}  // namespace gradus
