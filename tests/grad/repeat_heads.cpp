#include "autograd/ops/repeat_heads.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(repeat_heads) {
  for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{2, 1, 3, 2}, Shape{1, 2, 2, 3}})
    for (const std::size_t times : {1, 2, 3}) {
      const Tensor x = table.uniform(shape);
      table.check({{"x", x}}, [=] { return repeat_heads(x, times); });
    }
}
