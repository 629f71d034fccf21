#include "autograd/ops/dropout.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(dropout) {
  for (const Shape& shape : {Shape{9}, Shape{3, 5}, Shape{2, 3, 4}, Shape{1, 300}})
    for (const double p : {0.3, 0.7}) {
      const Tensor x = table.uniform(shape);
      table.check({{"x", x}}, [=] {
        Rng rng(5);  // the same values fall at every call
        return dropout(x, p, rng);
      });
    }
}
