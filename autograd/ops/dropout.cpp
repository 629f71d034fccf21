#include "autograd/ops/dropout.h"

#include <algorithm>
#include <array>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

// Calls body(i, draw i) for i = 0 … count − 1, on all threads. Draws are made a chunk at a time.
template <class Body>
static void for_each_draw(const RandomRange& draws, std::size_t count, const Body& body) {
  constexpr std::size_t chunk = 256;
  parallel_for((count + chunk - 1) / chunk, 8 * chunk, [&](std::size_t begin, std::size_t end) {
    std::array<double, chunk> numbers;
    for (std::size_t first = begin * chunk; first < std::min(end * chunk, count); first += chunk) {
      const std::size_t n = std::min(chunk, count - first);
      draws.fill(first, std::span(numbers).first(n));
      for (std::size_t i = 0; i < n; ++i) body(first + i, numbers[i]);
    }
  });
}

// y = x / (1 − p) where a value is kept, which is where its draw is at least p, and 0 elsewhere. The slope is the same
// factor at the same places:
//   dx += dy / (1 − p) where the value was kept
// The draws cost no memory: backward makes the same ones again.
Tensor dropout(const Tensor& x, double p, Rng& rng) {
  expect(p >= 0 && p < 1, "dropout: p must be at least 0 and below 1, not {}; at 1 nothing would be left to scale", p);
  if (p == 0) return x;
  const RandomRange draws = rng.reserve(x.size());
  const Real factor = static_cast<Real>(1 / (1 - p));
  Tensor y(x.shape());
  const Real* const X = x.values().data();
  Real* const Y = y.mutable_values().data();
  for_each_draw(draws, x.size(), [&](std::size_t i, double draw) { Y[i] = draw >= p ? X[i] * factor : 0; });

  return record(y, "dropout", {x}, [x, p, draws, factor](const Tensor& out) {
    const Real* const DY = out.grad().data();
    Real* const DX = x.mutable_grad().data();
    for_each_draw(draws, x.size(), [&](std::size_t i, double draw) { DX[i] += draw >= p ? DY[i] * factor : 0; });
  });
}

}  // namespace gradus
