#include "autograd/ops/layer_norm.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(layer_norm) {
  for (const Shape& shape : {Shape{5}, Shape{1, 3}, Shape{4, 5}, Shape{2, 3, 4}}) {
    const Tensor x = table.uniform(shape), gain = table.uniform({shape.back()}, 0.5, 2);
    const Tensor bias = table.uniform({shape.back()});
    table.check({{"x", x}, {"gain", gain}, {"bias", bias}}, [=] { return layer_norm(x, gain, bias, 0.1); });
    table.check({{"x", x}, {"gain", gain}}, [=] { return layer_norm(x, gain, {}, 0.1); });
  }
  // A row of one number is its own mean: only the bias is left of it.
  const Tensor x = table.uniform({3, 1}), gain = table.uniform({1}), bias = table.uniform({1});
  table.check({{"x", x}, {"gain", gain}, {"bias", bias}}, [=] { return layer_norm(x, gain, bias, 0.1); },
              {.zero_gradients = {"x", "gain"}});
}
