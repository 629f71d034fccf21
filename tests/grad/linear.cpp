#include "autograd/ops/linear.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(linear) {
  for (const Shape& shape : {Shape{4}, Shape{1, 1}, Shape{5, 3}, Shape{2, 3, 4}})
    for (std::size_t outputs : {1, 2, 5}) {
      const Tensor x = table.uniform(shape), weight = table.uniform({outputs, shape.back()});
      const Tensor bias = table.uniform({outputs});
      table.check({{"x", x}, {"weight", weight}, {"bias", bias}}, [=] { return linear(x, weight, bias); });
      table.check({{"x", x}, {"weight", weight}}, [=] { return linear(x, weight); });
    }
  const Tensor square = table.uniform({3, 3});
  table.check({{"x", square}}, [=] { return linear(square, square); });
}
