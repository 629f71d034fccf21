#include "autograd/ops/transpose.h"

#include <algorithm>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

namespace {

// x as (outer, m, middle, n, inner), where m and n are the exchanged axes; n is 1 if they are the same.
struct View {
  std::size_t outer = 1, m = 1, middle = 1, n = 1, inner = 1;
};

}  // namespace

static View view_axes(const Shape& shape, std::size_t first, std::size_t second) {
  View view;
  for (std::size_t axis = 0; axis < first; ++axis) view.outer *= shape[axis];
  for (std::size_t axis = first + 1; axis < second; ++axis) view.middle *= shape[axis];
  for (std::size_t axis = second + 1; axis < shape.rank(); ++axis) view.inner *= shape[axis];
  view.m = shape[first];
  if (first != second) view.n = shape[second];
  return view;
}

// Calls body(offset in the transpose, offset in the original) for every run of `inner` numbers, on all threads.
template <class Body>
static void for_each_run(const View& view, const Body& body) {
  const std::size_t m = view.m, middle = view.middle, n = view.n, inner = view.inner;
  parallel_for(view.outer * n, 4 * middle * m * inner, [&](std::size_t begin, std::size_t end) {
    for (std::size_t item = begin; item < end; ++item) {
      const std::size_t o = item / n, j = item % n;
      for (std::size_t k = 0; k < middle; ++k)
        for (std::size_t i = 0; i < m; ++i)
          body((((o * n + j) * middle + k) * m + i) * inner, (((o * m + i) * middle + k) * n + j) * inner);
    }
  });
}

// y[…, j, …, i, …] = x[…, i, …, j, …], and so   dx[…, i, …, j, …] += dy[…, j, …, i, …]
// which is the transpose of dy along the same two axes.
Tensor transpose(const Tensor& x, std::size_t axis1, std::size_t axis2) {
  expect(axis1 < x.rank() && axis2 < x.rank(),
         "transpose: x {} has {} axes, so axes {} and {} cannot be exchanged; the first axis is 0", x.shape(), x.rank(),
         axis1, axis2);
  const View view = view_axes(x.shape(), std::min(axis1, axis2), std::max(axis1, axis2));
  Tensor y(x.shape().with(axis1, x.extent(axis2)).with(axis2, x.extent(axis1)));
  const Real* const X = x.values().data();
  Real* const Y = y.mutable_values().data();
  for_each_run(view, [&](std::size_t at_y, std::size_t at_x) {
    for (std::size_t i = 0; i < view.inner; ++i) Y[at_y + i] = X[at_x + i];
  });

  const View back{view.outer, view.n, view.middle, view.m, view.inner};
  return record(y, "transpose", {x}, [x, back](const Tensor& out) {
    const Real* const DY = out.grad().data();
    Real* const DX = x.mutable_grad().data();
    for_each_run(back, [&](std::size_t at_x, std::size_t at_y) {
      for (std::size_t i = 0; i < back.inner; ++i) DX[at_x + i] += DY[at_y + i];
    });
  });
}

}  // namespace gradus
