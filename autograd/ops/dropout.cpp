#include "autograd/ops/dropout.h"

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

// y = x / (1 − p) where a value is kept, 0 elsewhere. The slope is the same factor at the same places:
//   dx += dy / (1 − p) where the value was kept
// Value i is kept if draw i is at least p. The draws cost no memory: backward makes the same ones again.
Tensor dropout(const Tensor& x, double p, Rng& rng) {
  expect(p >= 0 && p < 1, "dropout: p must be at least 0 and below 1, not {}; at 1 nothing would be left to scale", p);
  if (p == 0) return x;
  const RandomRange draws = rng.reserve(x.size());
  const Real factor = static_cast<Real>(1 / (1 - p));
  constexpr std::size_t work = 40;  // a draw is ten rounds of multiplications
  Tensor y(x.shape());
  const Real* const X = x.values().data();
  Real* const Y = y.mutable_values().data();
  parallel_for(x.size(), work, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) Y[i] = draws.uniform(i) >= p ? X[i] * factor : 0;
  });

  return record(y, "dropout", {x}, [x, p, draws, factor](const Tensor& out) {
    const Real* const DY = out.grad().data();
    Real* const DX = x.mutable_grad().data();
    parallel_for(x.size(), work, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) DX[i] += draws.uniform(i) >= p ? DY[i] * factor : 0;
    });
  });
}

}  // namespace gradus
