#include "autograd/ops/cross_entropy.h"

#include <vector>

#include "autograd/graph.h"
#include "autograd/ops/binary.h"
#include "autograd/ops/cross_entropy_rows.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/reshape.h"
#include "autograd/parallel.h"

namespace gradus {

static void cross_entropy_backward(const Tensor& y, const Tensor& logits, const std::vector<int>& targets, int ignored,
                                   const Tensor& maxima, const Tensor& sums, double share);

static std::size_t check_contract(const Tensor& logits, std::span<const int> targets, int ignored) {
  expect(logits.rank() >= 1, "cross_entropy: the logits are a scalar; they need a last axis to choose from");
  return counted_targets("cross_entropy", logits.shape(), logits.shape().back(), targets, ignored);
}

// For every row x with target t:   −ln pₜ = ln Σᵢ exp(xᵢ) − xₜ
Tensor cross_entropy(const Tensor& logits, std::span<const int> targets, Reduction reduction, int ignored) {
  const std::size_t counted = check_contract(logits, targets, ignored);
  const std::size_t V = logits.shape().back(), rows = logits.shape().rows();
  Tensor maxima({rows}), sums({rows});
  std::vector<double> surprise(rows);
  const Real* const X = logits.values().data();
  Real* const M = maxima.mutable_values().data();
  Real* const S = sums.mutable_values().data();

  parallel_for(rows, 16 * V, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      if (targets[row] == ignored) continue;
      const LogSumExp log_sum = log_sum_exp(X + row * V, V);
      M[row] = log_sum.m;
      S[row] = log_sum.s;
      surprise[row] = log_sum.value() - static_cast<double>(X[row * V + static_cast<std::size_t>(targets[row])]);
    }
  });

  const double share = share_of_a_row(reduction, counted);
  Tensor y(reduction == Reduction::none ? Shape{rows} : Shape{});
  const std::span<Real> Y = y.mutable_values();
  if (reduction == Reduction::none) {
    for (std::size_t row = 0; row < rows; ++row) Y[row] = static_cast<Real>(surprise[row]);
  } else {
    double total = 0;
    for (double nats : surprise) total += nats;
    Y[0] = static_cast<Real>(share * total);
  }
  return record(y, "cross_entropy", {logits},
                [logits, kept = std::vector<int>(targets.begin(), targets.end()), ignored, maxima, sums,
                 share](const Tensor& out) {
                  cross_entropy_backward(out, logits, kept, ignored, maxima, sums, share);
                });
}

// ∂(ln Σⱼ exp(xⱼ))/∂xᵢ = exp(xᵢ) / Σⱼ exp(xⱼ) = exp(xᵢ − m) / s = pᵢ, and ∂xₜ/∂xᵢ is 1 for i = t only, so for each
// counted row
//   dx += share dy (p − y),   where y is 1 at the target and 0 elsewhere
static void cross_entropy_backward(const Tensor& y, const Tensor& logits, const std::vector<int>& targets, int ignored,
                                   const Tensor& maxima, const Tensor& sums, double share) {
  const std::size_t V = logits.shape().back();
  const bool one_for_all = y.rank() == 0;
  const Real* const X = logits.values().data();
  const Real* const M = maxima.values().data();
  const Real* const S = sums.values().data();
  const Real* const DY = y.grad().data();
  Real* const DX = logits.mutable_grad().data();
  parallel_for(targets.size(), 16 * V, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      if (targets[row] == ignored) continue;
      const Real* const x = X + row * V;
      Real* const dx = DX + row * V;
      const Real weight = static_cast<Real>(share) * DY[one_for_all ? 0 : row];
      const Real weight_of_exp = weight / S[row], m = M[row];
      for (std::size_t i = 0; i < V; ++i) dx[i] += weight_of_exp * fast_exp(x[i] - m);
      dx[targets[row]] -= weight;
    }
  });
}

Tensor cross_entropy_composed(const Tensor& logits, std::span<const int> targets, Reduction reduction, int ignored) {
  const std::size_t counted = check_contract(logits, targets, ignored);
  const std::size_t V = logits.shape().back(), rows = logits.shape().rows();
  Tensor one_hot = Tensor::zeros({rows, V}), counts = Tensor::zeros({rows});
  for (std::size_t row = 0; row < rows; ++row) {
    if (targets[row] == ignored) continue;
    one_hot.mutable_values()[row * V + static_cast<std::size_t>(targets[row])] = 1;
    counts.mutable_values()[row] = 1;
  }
  const Tensor x = reshape(logits, {rows, V});
  const Tensor shifted = x - max(x, 1, KeepAxis::yes);
  const Tensor surprise = (log(sum(exp(shifted), 1)) - sum(shifted * one_hot, 1)) * counts;
  if (reduction == Reduction::none) return surprise;
  return sum(surprise) * share_of_a_row(reduction, counted);
}

}  // namespace gradus
