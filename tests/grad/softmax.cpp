#include "autograd/ops/softmax.h"

#include <cmath>

#include "tests/grad/check.h"

using namespace gradus;

static void check_rows(test::CheckTable& table, Tensor (*op)(const Tensor&)) {
  for (const Shape& shape : {Shape{5}, Shape{1, 2}, Shape{3, 4}, Shape{2, 3, 2}}) {
    const Tensor x = table.uniform(shape, -2, 2);
    table.check({{"x", x}}, [=] { return op(x); });
  }
  const Tensor alone = table.uniform({3, 1});
  table.check({{"x", alone}}, [=] { return op(alone); }, {.zero_gradients = {"x"}});
}

GRAD_CHECK(softmax) {
  check_rows(table, softmax);
  const Tensor masked({2, 3}, {0.5, -INFINITY, -1, -INFINITY, 2, 1});
  table.check({{"x", masked}}, [=] { return softmax(masked); });
}

GRAD_CHECK(log_softmax) { check_rows(table, log_softmax); }
