#include "autograd/ops/rms_norm.h"

#include <cmath>
#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/ops/binary.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/parallel.h"

namespace gradus {

static void rms_norm_backward(const Tensor& y, const Tensor& x, const Tensor& gain, const Tensor& inv_r);

static void check_contract(const Tensor& x, const Tensor& gain, double epsilon) {
  expect(x.rank() >= 1, "rms_norm: x is a scalar; it needs a last axis to normalise over");
  expect(gain.shape() == Shape{x.shape().back()},
         "rms_norm: gain {} must match the last axis of x {}: ({})", gain.shape(), x.shape(), x.shape().back());
  expect(epsilon >= 0, "rms_norm: epsilon must be 0 or more, not {}", epsilon);
}

// For every row x of n numbers:   y = gain ⊙ x / r,   r = √(mean(x²) + ε).
Tensor rms_norm(const Tensor& x, const Tensor& gain, double epsilon) {
  check_contract(x, gain, epsilon);
  const std::size_t n = x.shape().back(), rows = x.shape().rows();
  Tensor y(x.shape()), inv_r({rows});
  const Real* const X = x.values().data();
  const Real* const G = gain.values().data();
  Real* const Y = y.mutable_values().data();
  Real* const R = inv_r.mutable_values().data();

  parallel_for(rows, 4 * n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Real* const x_row = X + row * n;
      Real squares = 0;
#pragma omp simd reduction(+ : squares)
      for (std::size_t i = 0; i < n; ++i) squares += x_row[i] * x_row[i];
      const Real inverse = static_cast<Real>(1 / std::sqrt(squares / static_cast<double>(n) + epsilon));
      R[row] = inverse;
      for (std::size_t i = 0; i < n; ++i) Y[row * n + i] = G[i] * x_row[i] * inverse;
    }
  });

  return record(y, "rms_norm", {x, gain},
                [x, gain, inv_r](const Tensor& out) { rms_norm_backward(out, x, gain, inv_r); });
}

// Write u = gain ⊙ dy. Since ∂r/∂xⱼ = xⱼ / (n r), the chain rule gives
//   dgain += Σ_rows dy ⊙ x / r
//   dx    += u / r − x ⟨u, x⟩ / (n r³)
static void rms_norm_backward(const Tensor& y, const Tensor& x, const Tensor& gain, const Tensor& inv_r) {
  const std::size_t n = x.shape().back(), rows = x.shape().rows();
  const Real* const X = x.values().data();
  const Real* const G = gain.values().data();
  const Real* const R = inv_r.values().data();
  const Real* const DY = y.grad().data();

  if (x.requires_grad()) {
    Real* const DX = x.mutable_grad().data();
    parallel_for(rows, 8 * n, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        const Real* const x_row = X + row * n;
        const Real* const dy = DY + row * n;
        Real* const dx = DX + row * n;
        Real u_dot_x = 0;
#pragma omp simd reduction(+ : u_dot_x)
        for (std::size_t i = 0; i < n; ++i) u_dot_x += G[i] * dy[i] * x_row[i];
        const Real inverse = R[row], slope = u_dot_x * inverse * inverse * inverse / static_cast<Real>(n);
        for (std::size_t i = 0; i < n; ++i) dx[i] += G[i] * dy[i] * inverse - x_row[i] * slope;
      }
    });
  }

  if (gain.requires_grad()) {
    const std::size_t pieces = thread_count();
    std::vector<double> partial(pieces * n);  // a row for each piece of the loop
    parallel_pieces(rows, 4 * n, [&](std::size_t piece, std::size_t begin, std::size_t end) {
      double* const sum = partial.data() + piece * n;
      for (std::size_t row = begin; row < end; ++row)
        for (std::size_t i = 0; i < n; ++i) sum[i] += static_cast<double>(DY[row * n + i] * X[row * n + i] * R[row]);
    });
    Real* const dgain = gain.mutable_grad().data();
    for (std::size_t piece = 0; piece < pieces; ++piece)
      for (std::size_t i = 0; i < n; ++i) dgain[i] += static_cast<Real>(partial[piece * n + i]);
  }
}

Tensor rms_norm_composed(const Tensor& x, const Tensor& gain, double epsilon) {
  check_contract(x, gain, epsilon);
  const Tensor mean_square = mean(x * x, x.rank() - 1, KeepAxis::yes);
  return x / sqrt(mean_square + epsilon) * gain;
}

}  // namespace gradus
