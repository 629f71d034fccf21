#include "autograd/ops/pointwise.h"

#include "tests/grad/check.h"

using namespace gradus;

static const Shape shapes[] = {{}, {1}, {5}, {3, 1}, {2, 3, 2}};

// `op` for values around 0 that keep away from a kink there.
static void check_around_zero(test::CheckTable& table, Tensor (*op)(const Tensor&)) {
  for (const Shape& shape : shapes) {
    const Tensor x = scale(table.away_from_zero(shape), 2);
    table.check({{"x", x}}, [=] { return op(x); });
  }
  const Tensor both_signs({4}, {-1.5, -0.25, 0.25, 1.5});
  table.check({{"x", both_signs}}, [=] { return op(both_signs); });
}

static void check_above_zero(test::CheckTable& table, Tensor (*op)(const Tensor&)) {
  for (const Shape& shape : shapes) {
    const Tensor x = table.uniform(shape, 0.5, 3);
    table.check({{"x", x}}, [=] { return op(x); });
  }
}

GRAD_CHECK(neg) { check_around_zero(table, neg); }
GRAD_CHECK(exp) { check_around_zero(table, exp); }
GRAD_CHECK(log) { check_above_zero(table, log); }
GRAD_CHECK(sqrt) { check_above_zero(table, sqrt); }
GRAD_CHECK(tanh) { check_around_zero(table, tanh); }
GRAD_CHECK(sigmoid) { check_around_zero(table, sigmoid); }
GRAD_CHECK(relu) {
  const Tensor both_signs({4}, {-1.5, -0.25, 0.25, 1.5});
  table.check({{"x", both_signs}}, [=] { return relu(both_signs); });
  const Tensor x = table.away_from_zero({3, 4});
  table.check({{"x", x}}, [=] { return relu(x); });
}
GRAD_CHECK(silu) { check_around_zero(table, silu); }
GRAD_CHECK(gelu) { check_around_zero(table, gelu); }
GRAD_CHECK(gelu_tanh) { check_around_zero(table, gelu_tanh); }

GRAD_CHECK(add_scalar) {
  check_around_zero(table, [](const Tensor& x) { return x + 0.7; });
  check_around_zero(table, [](const Tensor& x) { return 0.7 - x; });
}

GRAD_CHECK(scale) {
  check_around_zero(table, [](const Tensor& x) { return x * -1.7; });
  check_around_zero(table, [](const Tensor& x) { return x / 0.3; });
}

GRAD_CHECK(pow) {
  check_around_zero(table, [](const Tensor& x) { return pow(x, 2); });
  check_around_zero(table, [](const Tensor& x) { return pow(x, 3); });
  check_above_zero(table, [](const Tensor& x) { return pow(x, -1.5); });
  check_above_zero(table, [](const Tensor& x) { return 2 / x; });
  const Tensor zero = Tensor::zeros({2});
  table.check({{"x", zero}}, [=] { return pow(zero, 1); });
  table.check({{"x", zero}}, [=] { return pow(zero, 0); }, {.zero_gradients = {"x"}});
}
