#include "autograd/ops/layer_norm.h"

#include <cmath>
#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/ops/binary.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/parallel.h"

namespace gradus {

static void layer_norm_backward(const Tensor& y, const Tensor& x, const Tensor& gain, const Tensor& bias,
                                const Tensor& mean_x, const Tensor& inv_s);

static void check_contract(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon) {
  expect(x.rank() >= 1, "layer_norm: x is a scalar; it needs a last axis to normalise over");
  const Shape row{x.shape().back()};
  expect(gain.shape() == row, "layer_norm: gain {} must match the last axis of x {}: {}", gain.shape(), x.shape(), row);
  expect(!bias.defined() || bias.shape() == row, "layer_norm: bias {} must match the last axis of x {}: {}",
         bias.defined() ? bias.shape() : Shape{}, x.shape(), row);
  expect(epsilon >= 0, "layer_norm: epsilon must be 0 or more, not {}", epsilon);
}

// For every row x of n numbers, with s = √(variance + ε) and the variance mean((x − mean x)²):
//   y = gain ⊙ x̂ + bias,   x̂ = (x − mean x) / s
// The variance is summed around the mean. The shorter mean(x²) − (mean x)² cancels where the mean is large.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon) {
  check_contract(x, gain, bias, epsilon);
  const std::size_t n = x.shape().back(), rows = x.shape().rows();
  Tensor y(x.shape()), mean_x({rows}), inv_s({rows});
  const Tensor shift = bias.defined() ? bias : Tensor::zeros({n});
  const Real* const X = x.values().data();
  const Real* const G = gain.values().data();
  const Real* const B = shift.values().data();
  Real* const Y = y.mutable_values().data();
  Real* const M = mean_x.mutable_values().data();
  Real* const S = inv_s.mutable_values().data();

  parallel_for(rows, 6 * n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Real* const x_row = X + row * n;
      Real sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::size_t i = 0; i < n; ++i) sum += x_row[i];
      const Real m = sum / static_cast<Real>(n);
      Real squares = 0;
#pragma omp simd reduction(+ : squares)
      for (std::size_t i = 0; i < n; ++i) squares += (x_row[i] - m) * (x_row[i] - m);
      const Real inverse = static_cast<Real>(1 / std::sqrt(squares / static_cast<double>(n) + epsilon));
      M[row] = m;
      S[row] = inverse;
      for (std::size_t i = 0; i < n; ++i) Y[row * n + i] = G[i] * ((x_row[i] - m) * inverse) + B[i];
    }
  });

  std::vector<Tensor> inputs{x, gain};
  if (bias.defined()) inputs.push_back(bias);
  return record(y, "layer_norm", inputs, [x, gain, bias, mean_x, inv_s](const Tensor& out) {
    layer_norm_backward(out, x, gain, bias, mean_x, inv_s);
  });
}

// Write u = gain ⊙ dy. The mean has slope 1/n in every xⱼ, and s has slope (xⱼ − mean x) / (n s) = x̂ⱼ / n: the mean's
// own slope drops out, as Σ (x − mean x) = 0. Hence ∂x̂ᵢ/∂xⱼ = (δᵢⱼ − 1/n − x̂ᵢ x̂ⱼ / n) / s, and
//   dgain += Σ_rows dy ⊙ x̂
//   dbias += Σ_rows dy
//   dx    += (u − mean(u) − x̂ mean(u ⊙ x̂)) / s
static void layer_norm_backward(const Tensor& y, const Tensor& x, const Tensor& gain, const Tensor& bias,
                                const Tensor& mean_x, const Tensor& inv_s) {
  const std::size_t n = x.shape().back(), rows = x.shape().rows();
  const Real* const X = x.values().data();
  const Real* const G = gain.values().data();
  const Real* const M = mean_x.values().data();
  const Real* const S = inv_s.values().data();
  const Real* const DY = y.grad().data();

  if (x.requires_grad()) {
    Real* const DX = x.mutable_grad().data();
    parallel_for(rows, 10 * n, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        const Real* const x_row = X + row * n;
        const Real* const dy = DY + row * n;
        Real* const dx = DX + row * n;
        const Real m = M[row], inverse = S[row];
        Real sum_u = 0, u_dot_xhat = 0;
#pragma omp simd reduction(+ : sum_u, u_dot_xhat)
        for (std::size_t i = 0; i < n; ++i) {
          sum_u += G[i] * dy[i];
          u_dot_xhat += G[i] * dy[i] * ((x_row[i] - m) * inverse);
        }
        const Real mean_u = sum_u / static_cast<Real>(n), slope = u_dot_xhat / static_cast<Real>(n);
        for (std::size_t i = 0; i < n; ++i) {
          const Real xhat = (x_row[i] - m) * inverse;
          dx[i] += (G[i] * dy[i] - mean_u - xhat * slope) * inverse;
        }
      }
    });
  }

  // Sums over rows: each piece of the loop has its own row of partial sums.
  const auto add_row_sums = [&](const Tensor& target, std::size_t work, const auto& add_row) {
    const std::size_t pieces = thread_count();
    std::vector<double> partial(pieces * n);
    parallel_pieces(rows, work, [&](std::size_t piece, std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) add_row(row, partial.data() + piece * n);
    });
    Real* const D = target.mutable_grad().data();
    for (std::size_t piece = 0; piece < pieces; ++piece)
      for (std::size_t i = 0; i < n; ++i) D[i] += static_cast<Real>(partial[piece * n + i]);
  };
  if (gain.requires_grad())
    add_row_sums(gain, 4 * n, [&](std::size_t row, double* sum) {
      const Real m = M[row], inverse = S[row];
      for (std::size_t i = 0; i < n; ++i)
        sum[i] += static_cast<double>(DY[row * n + i] * ((X[row * n + i] - m) * inverse));
    });
  if (bias.defined() && bias.requires_grad())
    add_row_sums(bias, n, [&](std::size_t row, double* sum) {
      for (std::size_t i = 0; i < n; ++i) sum[i] += static_cast<double>(DY[row * n + i]);
    });
}

Tensor layer_norm_composed(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon) {
  check_contract(x, gain, bias, epsilon);
  const std::size_t last = x.rank() - 1;
  const Tensor centred = x - mean(x, last, KeepAxis::yes);
  const Tensor variance = mean(centred * centred, last, KeepAxis::yes);
  const Tensor y = centred / sqrt(variance + epsilon) * gain;
  return bias.defined() ? y + bias : y;
}

}  // namespace gradus
