#include "autograd/ops/swiglu.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(swiglu) {
  for (const Shape& shape : {Shape{}, Shape{1, 1}, Shape{5}, Shape{3, 4}, Shape{2, 3, 2}}) {
    const Tensor gate = table.uniform(shape, -4, 4), up = table.uniform(shape, -2, 2);
    table.check({{"gate", gate}, {"up", up}}, [=] { return swiglu(gate, up); });
  }
  const Tensor x = table.uniform({2, 3});
  table.check({{"x", x}}, [=] { return swiglu(x, x); });
}
