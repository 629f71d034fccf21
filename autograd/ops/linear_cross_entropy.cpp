#include "autograd/ops/linear_cross_entropy.h"

#include <algorithm>
#include <vector>

#include "autograd/gemm.h"
#include "autograd/graph.h"
#include "autograd/ops/cross_entropy_rows.h"
#include "autograd/parallel.h"

namespace gradus {

static void linear_cross_entropy_backward(const Tensor& y, const Tensor& x, const Tensor& weight,
                                          const std::vector<int>& targets, int ignored, const Tensor& maxima,
                                          const Tensor& sums, double share);

// Calls body(begin, end, logits) for a few rows of x at a time, with logits = x Wᵀ of rows begin … end. About a million
// logits stay in cache; but a product of few rows spends its time on reading W, so a large V gets more than that.
template <class Body>
static void for_each_chunk(const Tensor& x, const Tensor& weight, const Body& body) {
  constexpr std::size_t logits_at_once = std::size_t{1} << 20, least_rows = 128;
  const std::size_t rows = x.shape().rows(), V = weight.extent(0), C = weight.extent(1);
  const std::size_t chunk = std::min(rows, std::max(logits_at_once / V, least_rows));
  Tensor logits({chunk, V});
  Real* const Z = logits.mutable_values().data();
  for (std::size_t begin = 0; begin < rows; begin += chunk) {
    const std::size_t end = std::min(begin + chunk, rows);
    gemm({.op_b = Op::transpose, .m = end - begin, .n = V, .k = C, .a = x.values().data() + begin * C, .a_stride = C,
          .b = weight.values().data(), .b_stride = C, .c = Z, .c_stride = V});
    body(begin, end, Z);
  }
}

// For every row x with target t:   z = W x,   −ln pₜ = ln Σᵢ exp(zᵢ) − zₜ
Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, std::span<const int> targets, Reduction reduction,
                            int ignored) {
  expect(weight.rank() == 2 && weight.extent(0) > 0,
         "linear_cross_entropy: weight {} must have two axes, (V, C), and a V above 0", weight.shape());
  const std::size_t V = weight.extent(0), C = weight.extent(1);
  expect(x.rank() >= 1 && x.shape().back() == C,
         "linear_cross_entropy: the last axis of x {} must match the last axis of weight {}, (V, C)", x.shape(),
         weight.shape());
  expect(reduction != Reduction::none,
         "linear_cross_entropy: there is no Reduction::none; use cross_entropy(linear(x, weight), targets)");
  const std::size_t counted = counted_targets("linear_cross_entropy", x.shape(), V, targets, ignored);

  Tensor maxima({x.shape().rows()}), sums({x.shape().rows()});
  std::vector<double> surprise(targets.size());
  Real* const M = maxima.mutable_values().data();
  Real* const S = sums.mutable_values().data();
  for_each_chunk(x, weight, [&](std::size_t begin, std::size_t end, const Real* logits) {
    parallel_for(end - begin, 16 * V, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const std::size_t row = begin + i;
        if (targets[row] == ignored) continue;
        const LogSumExp log_sum = log_sum_exp(logits + i * V, V);
        M[row] = log_sum.m;
        S[row] = log_sum.s;
        surprise[row] = log_sum.value() - static_cast<double>(logits[i * V + static_cast<std::size_t>(targets[row])]);
      }
    });
  });

  double total = 0;
  for (double nats : surprise) total += nats;
  const double share = share_of_a_row(reduction, counted);
  return record(Tensor::scalar(share * total), "linear_cross_entropy", {x, weight},
                [x, weight, kept = std::vector<int>(targets.begin(), targets.end()), ignored, maxima, sums,
                 share](const Tensor& out) {
                  linear_cross_entropy_backward(out, x, weight, kept, ignored, maxima, sums, share);
                });
}

// The logits of a chunk, made again, become their own gradient, and from there on it is a linear layer's backward:
//   dz = share dy (p − y) for a counted row, 0 for another
//   dx += dz W
//   dW += dzᵀ x
static void linear_cross_entropy_backward(const Tensor& y, const Tensor& x, const Tensor& weight,
                                          const std::vector<int>& targets, int ignored, const Tensor& maxima,
                                          const Tensor& sums, double share) {
  const std::size_t V = weight.extent(0), C = weight.extent(1);
  const Real* const M = maxima.values().data();
  const Real* const S = sums.values().data();
  const Real slope = static_cast<Real>(share) * y.grad()[0];
  Real* const dx = x.requires_grad() ? x.mutable_grad().data() : nullptr;

  for_each_chunk(x, weight, [&](std::size_t begin, std::size_t end, Real* z) {
    parallel_for(end - begin, 16 * V, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const int target = targets[begin + i];
        Real* const dz = z + i * V;
        if (target == ignored) {
          std::fill_n(dz, V, Real{0});
          continue;
        }
        const Real slope_of_exp = slope / S[begin + i], m = M[begin + i];
        for (std::size_t j = 0; j < V; ++j) dz[j] = slope_of_exp * fast_exp(dz[j] - m);
        dz[target] -= slope;
      }
    });
    const std::size_t rows = end - begin;
    if (dx != nullptr)
      gemm({.m = rows, .n = C, .k = V, .a = z, .a_stride = V, .b = weight.values().data(), .b_stride = C,
            .c = dx + begin * C, .c_stride = C, .beta = 1});
    if (weight.requires_grad()) {
      const auto [dweight, beta] = weight.grad_target();  // beta is 1 from the second chunk on: the chunks add up
      gemm({.op_a = Op::transpose, .m = V, .n = C, .k = rows, .a = z, .a_stride = V,
            .b = x.values().data() + begin * C, .b_stride = C, .c = dweight, .c_stride = C, .beta = beta});
    }
  });
}

}  // namespace gradus
