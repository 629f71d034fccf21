#include "autograd/ops/embedding.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(embedding) {
  static const int ids[] = {1, 1, 3, 1, 0};
  for (const Shape& shape : {Shape{4, 2}, Shape{5, 1}, Shape{4, 3}}) {
    const Tensor rows = table.uniform(shape);
    table.check({{"table", rows}}, [=] { return embedding(rows, ids); });
  }
}
