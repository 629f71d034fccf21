// What cross_entropy and linear_cross_entropy share: the contract of the targets, the share of a row in the loss, and
// the log-sum-exp of a row.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "autograd/error.h"
#include "autograd/exp.h"
#include "autograd/ops/cross_entropy.h"
#include "autograd/real.h"
#include "autograd/shape.h"

namespace gradus {

// How many targets count: those that are not `ignored`.
inline std::size_t counted_targets(std::string_view op, const Shape& shape, std::size_t vocabulary,
                                   std::span<const int> targets, int ignored) {
  expect(targets.size() == shape.rows(), "{}: {} targets for {}, which has {} rows; give one target a row", op,
         targets.size(), shape, shape.rows());
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const int target = targets[row];
    expect(target == ignored || (target >= 0 && static_cast<std::size_t>(target) < vocabulary),
           "{}: target {} of row {} is not in 0 … {}; one that must not count is {}", op, target, row,
           static_cast<long long>(vocabulary) - 1, ignored);
  }
  return targets.size() - static_cast<std::size_t>(std::ranges::count(targets, ignored));
}

// What a counted row's surprise is multiplied by. With nothing counted the sum is 0, and so is the mean.
inline double share_of_a_row(Reduction reduction, std::size_t counted) {
  return reduction == Reduction::mean && counted > 0 ? 1 / static_cast<double>(counted) : 1;
}

// ln Σᵢ exp(xᵢ) = m + ln s with m = max x and s = Σᵢ exp(xᵢ − m): no term overflows, and one of them is 1.
// Backward needs pᵢ = exp(xᵢ − m) / s, so m and s are kept apart: as one float, a large m would leave ln s few digits.
struct LogSumExp {
  Real m, s;
  double value() const { return static_cast<double>(m) + std::log(static_cast<double>(s)); }
};

inline LogSumExp log_sum_exp(const Real* x, std::size_t n) {
  Real m = -std::numeric_limits<Real>::infinity();
#pragma omp simd reduction(max : m)
  for (std::size_t i = 0; i < n; ++i) m = x[i] > m ? x[i] : m;
  Real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += fast_exp(x[i] - m);
  return {m, sum};
}

}  // namespace gradus
