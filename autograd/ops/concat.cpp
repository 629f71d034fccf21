#include "autograd/ops/concat.h"

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

static void concat_backward(const Tensor& y, std::span<const Tensor> inputs, std::size_t outer);

static Shape result_shape(std::span<const Tensor> inputs, std::size_t axis) {
  expect(!inputs.empty(), "concat: there are no inputs; give at least one");
  const Shape& first = inputs[0].shape();
  expect(axis < first.rank(), "concat: axis {} of {} does not exist; the first axis is 0", axis, first);
  std::size_t extent = 0;
  for (const Tensor& input : inputs) {
    const Shape& shape = input.shape();
    expect(shape.rank() == first.rank() && shape.with(axis, first[axis]) == first,
           "concat: {} cannot follow {} along axis {}; all other axes must agree", shape, first, axis);
    extent += shape[axis];
  }
  return first.with(axis, extent);
}

// In y, seen as `outer` rows, each input x has the columns from `start` on, as many as a row of x is long:
//   y[o, start + i] = x[o, i]
Tensor concat(std::span<const Tensor> inputs, std::size_t axis) {
  Tensor y(result_shape(inputs, axis));
  std::size_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= y.extent(i);
  const std::size_t width = outer == 0 ? 0 : y.size() / outer;

  Real* const Y = y.mutable_values().data();
  std::size_t start = 0;
  for (const Tensor& x : inputs) {
    const std::size_t length = outer == 0 ? 0 : x.size() / outer;
    const Real* const X = x.values().data();
    parallel_for(outer, length, [&](std::size_t first, std::size_t last) {
      for (std::size_t o = first; o < last; ++o)
        for (std::size_t i = 0; i < length; ++i) Y[o * width + start + i] = X[o * length + i];
    });
    start += length;
  }

  return record(y, "concat", inputs, [own = std::vector(inputs.begin(), inputs.end()), outer](const Tensor& out) {
    concat_backward(out, own, outer);
  });
}

// Each input takes its columns back:   dx[o, i] += dy[o, start + i]
static void concat_backward(const Tensor& y, std::span<const Tensor> inputs, std::size_t outer) {
  if (y.size() == 0) return;
  const std::size_t width = y.size() / outer;
  const Real* const DY = y.grad().data();
  std::size_t start = 0;
  for (const Tensor& x : inputs) {
    const std::size_t length = x.size() / outer;
    if (x.requires_grad()) {
      Real* const DX = x.mutable_grad().data();
      parallel_for(outer, length, [&](std::size_t first, std::size_t last) {
        for (std::size_t o = first; o < last; ++o)
          for (std::size_t i = 0; i < length; ++i) DX[o * length + i] += DY[o * width + start + i];
      });
    }
    start += length;
  }
}

}  // namespace gradus
