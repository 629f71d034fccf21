#include "autograd/ops/rms_norm.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(rms_norm) {
  for (const Shape& shape : {Shape{5}, Shape{1, 1}, Shape{3, 5}, Shape{2, 3, 4}}) {
    const Tensor x = table.uniform(shape), gain = table.uniform({shape.back()}, 0.5, 2);
    table.check({{"x", x}, {"gain", gain}}, [=] { return rms_norm(x, gain, 1e-2); });
  }
  const Tensor x = table.uniform({6, 3}), gain = table.uniform({3});
  table.check({{"x", x}, {"gain", gain}}, [=] { return rms_norm(x, gain, 0); });
}
