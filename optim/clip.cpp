#include "optim/clip.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "autograd/error.h"
#include "autograd/parallel.h"

namespace gradus::optim {

double gradient_norm(std::span<const Tensor> parameters) {
  double total = 0;
  for (const Tensor& parameter : parameters) {
    const std::span<const Real> g = parameter.grad();
    std::vector<double> partial(thread_count());
    parallel_pieces(g.size(), 2, [&](std::size_t piece, std::size_t begin, std::size_t end) {
      const Real* const part = g.data() + begin;
      double squares = 0;
#pragma omp simd reduction(+ : squares)
      for (std::size_t i = 0; i < end - begin; ++i) {
        const double value = static_cast<double>(part[i]);
        squares += value * value;
      }
      partial[piece] = squares;
    });
    total = std::accumulate(partial.begin(), partial.end(), total);
  }
  return std::sqrt(total);
}

// g ← g · min(1, max_norm / (‖g‖ + 10⁻⁶)). The 10⁻⁶ keeps rounding from leaving the result a little too long.
double clip_grad_norm(std::span<const Tensor> parameters, double max_norm) {
  expect(max_norm >= 0, "clip_grad_norm: a norm of at most {} cannot be reached; use a positive one, or 0 for off",
         max_norm);
  const double norm = gradient_norm(parameters);
  const double factor = max_norm / (norm + 1e-6);
  if (max_norm == 0 || !std::isfinite(norm) || factor >= 1) return norm;
  for (const Tensor& parameter : parameters) {
    if (!parameter.has_grad()) continue;
    const std::span<Real> g = parameter.mutable_grad();
    const Real scale = static_cast<Real>(factor);
    parallel_for(g.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) g[i] *= scale;
    });
  }
  return norm;
}

}  // namespace gradus::optim
