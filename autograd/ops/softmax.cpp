#include "autograd/ops/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/error.h"
#include "autograd/exp.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

static constexpr Real minus_infinity = -std::numeric_limits<Real>::infinity();

static void softmax_backward(const Tensor& y, const Tensor& x);
static void log_softmax_backward(const Tensor& y, const Tensor& x);

// What a row is shifted by, so that its largest exponent is 0. A row of only −inf, where −inf − (−inf) would be NaN,
// stays where it is. A NaN may be passed over here: it shows in the sum of the exponentials.
static Real shift_of(const Real* x, std::size_t n) {
  Real largest = minus_infinity;
#pragma omp simd reduction(max : largest)
  for (std::size_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest == minus_infinity ? 0 : largest;
}

// yᵢ = exp(xᵢ − m) / Σⱼ exp(xⱼ − m). The largest term of the sum is 1, so a sum of 0 means a row of only −inf.
Tensor softmax(const Tensor& x) {
  expect(x.rank() >= 1, "softmax: x is a scalar; it needs a last axis to share 1 over");
  const std::size_t n = x.shape().back(), rows = x.shape().rows();
  Tensor y(x.shape());
  const Real* const X = x.values().data();
  Real* const Y = y.mutable_values().data();

  parallel_for(rows, 16 * n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Real* const x_row = X + row * n;
      Real* const y_row = Y + row * n;
      const Real m = shift_of(x_row, n);
      Real sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::size_t i = 0; i < n; ++i) {
        y_row[i] = fast_exp(x_row[i] - m);
        sum += y_row[i];
      }
      const Real inverse = sum == 0 ? 0 : 1 / sum;
      for (std::size_t i = 0; i < n; ++i) y_row[i] *= inverse;
    }
  });

  return record(y, "softmax", {x}, [x](const Tensor& out) { softmax_backward(out, x); });
}

// Since ∂yᵢ/∂xⱼ = yᵢ (δᵢⱼ − yⱼ), every x moves every y of its row:
//   dx += y ⊙ (dy − ⟨dy, y⟩)
static void softmax_backward(const Tensor& y, const Tensor& x) {
  const std::size_t n = x.shape().back(), rows = x.shape().rows();
  const Real* const Y = y.values().data();
  const Real* const DY = y.grad().data();
  Real* const DX = x.mutable_grad().data();
  parallel_for(rows, 4 * n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Real* const y_row = Y + row * n;
      const Real* const dy = DY + row * n;
      Real* const dx = DX + row * n;
      Real dy_dot_y = 0;
#pragma omp simd reduction(+ : dy_dot_y)
      for (std::size_t i = 0; i < n; ++i) dy_dot_y += dy[i] * y_row[i];
      for (std::size_t i = 0; i < n; ++i) dx[i] += y_row[i] * (dy[i] - dy_dot_y);
    }
  });
}

// yᵢ = (xᵢ − m) − ln Σⱼ exp(xⱼ − m). Subtracting m first keeps the digits of small differences between large numbers.
Tensor log_softmax(const Tensor& x) {
  expect(x.rank() >= 1, "log_softmax: x is a scalar; it needs a last axis to share 1 over");
  const std::size_t n = x.shape().back(), rows = x.shape().rows();
  Tensor y(x.shape());
  const Real* const X = x.values().data();
  Real* const Y = y.mutable_values().data();

  parallel_for(rows, 16 * n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Real* const x_row = X + row * n;
      const Real m = shift_of(x_row, n);
      Real sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::size_t i = 0; i < n; ++i) sum += fast_exp(x_row[i] - m);
      const Real log_sum = sum == 0 ? 0 : std::log(sum);
      for (std::size_t i = 0; i < n; ++i) Y[row * n + i] = (x_row[i] - m) - log_sum;
    }
  });

  return record(y, "log_softmax", {x}, [x](const Tensor& out) { log_softmax_backward(out, x); });
}

// The slope of the logarithm of the sum is softmax(x) = eʸ, so ∂yᵢ/∂xⱼ = δᵢⱼ − exp(yⱼ):
//   dx += dy − eʸ Σ dy,   and nothing for a row of only −inf
static void log_softmax_backward(const Tensor& y, const Tensor& x) {
  const std::size_t n = x.shape().back(), rows = x.shape().rows();
  const Real* const Y = y.values().data();
  const Real* const DY = y.grad().data();
  Real* const DX = x.mutable_grad().data();
  parallel_for(rows, 16 * n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Real* const y_row = Y + row * n;
      const Real* const dy = DY + row * n;
      Real* const dx = DX + row * n;
      if (std::all_of(y_row, y_row + n, [](Real value) { return value == minus_infinity; })) continue;
      Real dy_sum = 0;
#pragma omp simd reduction(+ : dy_sum)
      for (std::size_t i = 0; i < n; ++i) dy_sum += dy[i];
      for (std::size_t i = 0; i < n; ++i) dx[i] += dy[i] - fast_exp(y_row[i]) * dy_sum;
    }
  });
}

}  // namespace gradus
