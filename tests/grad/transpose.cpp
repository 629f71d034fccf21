#include "autograd/ops/transpose.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(transpose) {
  for (const Shape& shape : {Shape{2, 3}, Shape{1, 4}, Shape{2, 3, 4}, Shape{2, 3, 1, 2}}) {
    const Tensor x = table.uniform(shape);
    for (std::size_t axis1 = 0; axis1 < shape.rank(); ++axis1)
      for (std::size_t axis2 = 0; axis2 < shape.rank(); ++axis2)
        table.check({{"x", x}}, [=] { return transpose(x, axis1, axis2); });
  }
}
