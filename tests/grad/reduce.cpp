#include "autograd/ops/reduce.h"

#include "tests/grad/check.h"

using namespace gradus;

using OverAll = Tensor (*)(const Tensor&);
using OverAxis = Tensor (*)(const Tensor&, std::size_t, KeepAxis);

// Numbers in no order whose distances are far wider than a step of the check: no maximum changes its place.
static Tensor scattered(const Shape& shape) {
  Tensor x(shape);
  for (std::size_t i = 0; i < x.size(); ++i) x.mutable_values()[i] = static_cast<Real>(i * 7 % 29) * Real{0.1} - 1;
  return x;
}

static void check_axes(test::CheckTable& table, OverAll over_all, OverAxis over_axis) {
  for (const Shape& shape : {Shape{5}, Shape{1, 1}, Shape{2, 3}, Shape{3, 1, 2}, Shape{2, 3, 4}}) {
    const Tensor x = scattered(shape);
    table.check({{"x", x}}, [=] { return over_all(x); });
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
      for (const KeepAxis keep : {KeepAxis::no, KeepAxis::yes})
        table.check({{"x", x}}, [=] { return over_axis(x, axis, keep); });
  }
}

GRAD_CHECK(sum) { check_axes(table, sum, sum); }
GRAD_CHECK(mean) { check_axes(table, mean, mean); }
GRAD_CHECK(max) { check_axes(table, max, max); }
