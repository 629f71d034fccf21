#include "autograd/ops/masked_fill.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(masked_fill) {
  static const int lower[] = {0, 1, 1, 0, 0, 1};                    // (2, 3)
  static const int each[] = {0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1};  // (2, 2, 3)
  for (const Shape& shape : {Shape{2, 3}, Shape{4, 2, 3}, Shape{1, 2, 2, 3}, Shape{6}}) {
    const Tensor x = table.uniform(shape);
    table.check({{"x", x}}, [=] { return masked_fill(x, lower, -2); });
  }
  const Tensor x = table.uniform({2, 2, 3});
  table.check({{"x", x}}, [=] { return masked_fill(x, each, 0.5); });
}
