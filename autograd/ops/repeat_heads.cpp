#include "autograd/ops/repeat_heads.h"

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

// Head h of the result is head h / times of x:
//   y[b, t, h] = x[b, t, h / times]
// So a head of x receives a term from each of its copies:
//   dx[b, t, g] += Σ_copy dy[b, t, g · times + copy]
Tensor repeat_heads(const Tensor& x, std::size_t times) {
  expect(x.rank() == 4, "repeat_heads: x {} must have four axes, (B, T, H, D); reshape it", x.shape());
  expect(times > 0, "repeat_heads: a head cannot be repeated 0 times; 1 is a plain copy");
  const std::size_t D = x.extent(3), heads = x.shape().rows();
  Tensor y(x.shape().with(2, x.extent(2) * times));
  const Real* const X = x.values().data();
  Real* const Y = y.mutable_values().data();
  parallel_for(heads, times * D, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g)
      for (std::size_t copy = 0; copy < times; ++copy)
        for (std::size_t i = 0; i < D; ++i) Y[(g * times + copy) * D + i] = X[g * D + i];
  });

  return record(y, "repeat_heads", {x}, [x, times, heads, D](const Tensor& out) {
    const Real* const DY = out.grad().data();
    Real* const DX = x.mutable_grad().data();
    parallel_for(heads, times * D, [&](std::size_t begin, std::size_t end) {
      for (std::size_t g = begin; g < end; ++g)
        for (std::size_t copy = 0; copy < times; ++copy)
          for (std::size_t i = 0; i < D; ++i) DX[g * D + i] += DY[(g * times + copy) * D + i];
    });
  });
}

}  // namespace gradus
