#include "autograd/ops/slice.h"

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

// Seen as `outer` blocks, y has runs of `length` numbers that lie in x `stride` apart, the first at `start`:
//   y[o, i] = x[start + o · stride + i]
// Only what was read has a slope:   dx[start + o · stride + i] += dy[o, i]
Tensor slice(const Tensor& x, std::size_t axis, std::size_t begin, std::size_t end) {
  expect(axis < x.rank(), "slice: axis {} of x {} does not exist; the first axis is 0", axis, x.shape());
  expect(begin <= end && end <= x.extent(axis),
         "slice: {} … {} does not lie in axis {} of x {}; the rule is begin ≤ end ≤ {}", begin, end, axis, x.shape(),
         x.extent(axis));
  std::size_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= x.extent(i);
  for (std::size_t i = axis + 1; i < x.rank(); ++i) inner *= x.extent(i);
  const std::size_t start = begin * inner, length = (end - begin) * inner, stride = x.extent(axis) * inner;

  Tensor y(x.shape().with(axis, end - begin));
  const Real* const X = x.values().data();
  Real* const Y = y.mutable_values().data();
  parallel_for(outer, length, [&](std::size_t first, std::size_t last) {
    for (std::size_t o = first; o < last; ++o)
      for (std::size_t i = 0; i < length; ++i) Y[o * length + i] = X[start + o * stride + i];
  });

  return record(y, "slice", {x}, [x, outer, start, length, stride](const Tensor& out) {
    const Real* const DY = out.grad().data();
    Real* const DX = x.mutable_grad().data();
    parallel_for(outer, length, [&](std::size_t first, std::size_t last) {
      for (std::size_t o = first; o < last; ++o)
        for (std::size_t i = 0; i < length; ++i) DX[start + o * stride + i] += DY[o * length + i];
    });
  });
}

}  // namespace gradus
