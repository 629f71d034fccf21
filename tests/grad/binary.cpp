// Every way two shapes can broadcast: equal, a row, a column, a missing axis on either side, both at once, a scalar.
#include "autograd/ops/binary.h"

#include "tests/grad/check.h"

using namespace gradus;

static void check_broadcasts(test::CheckTable& table, Tensor (*op)(const Tensor&, const Tensor&)) {
  const std::pair<Shape, Shape> pairs[] = {
      {{2, 3}, {2, 3}}, {{2, 3}, {3}},       {{2, 3}, {1, 3}}, {{2, 3}, {2, 1}},    {{2, 3}, {}},
      {{3}, {2, 3}},    {{2, 1}, {2, 3}},    {{}, {2, 3}},     {{2, 1}, {1, 3}},    {{2, 1}, {3}},
      {{1, 1}, {1}},    {{2, 1, 4}, {3, 1}}, {{}, {}},         {{2, 3, 1, 2}, {4, 1}},
  };
  for (const auto& [shape_a, shape_b] : pairs) {
    const Tensor a = table.away_from_zero(shape_a), b = table.uniform(shape_b, 0.5, 2);
    table.check({{"a", a}, {"b", b}}, [=] { return op(a, b); });
  }
  const Tensor x = table.uniform({2, 3}, 0.5, 2), y = table.uniform({2, 3}, 0.5, 2);
  table.check({{"x", x}, {"y", y}}, [=] { return op(op(x, y) * x, y); });
}

GRAD_CHECK(add) { check_broadcasts(table, add); }
GRAD_CHECK(sub) { check_broadcasts(table, sub); }
GRAD_CHECK(mul) { check_broadcasts(table, mul); }
GRAD_CHECK(div) { check_broadcasts(table, div); }
