#include "autograd/ops/slice.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(slice) {
  for (const Shape& shape : {Shape{4}, Shape{3, 5}, Shape{2, 3, 4}, Shape{1, 3, 2}}) {
    const Tensor x = table.uniform(shape);
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      const std::size_t n = shape[axis];
      table.check({{"x", x}}, [=] { return slice(x, axis, 0, n); });
      table.check({{"x", x}}, [=] { return slice(x, axis, n / 2, n); });
      table.check({{"x", x}}, [=] { return slice(x, axis, n - 1, n); });
    }
  }
}
