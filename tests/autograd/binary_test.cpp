#include "autograd/ops/binary.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"

using namespace gradus;

static std::vector<Real> list(std::span<const Real> values) { return {values.begin(), values.end()}; }
using Reals = std::vector<Real>;

TEST_CASE("a broadcast factor's gradient has the factor's shape and sums over the places it went to") {
  const Tensor a({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::pair<Shape, Reals> expected[] = {
      {{3}, {5, 7, 9}}, {{1, 3}, {5, 7, 9}}, {{2, 1}, {6, 15}}, {{}, {21}}, {{2, 3}, {1, 2, 3, 4, 5, 6}}};
  for (const auto& [shape, gradient] : expected) {
    Tensor b = Tensor::full(shape, 1).set_requires_grad();
    sum(a * b).backward();
    CHECK(list(b.grad()) == gradient);
    b.clear_grad();
    sum(b * a).backward();
    CHECK(list(b.grad()) == gradient);
  }
}

TEST_CASE("broadcasting follows NumPy: missing axes stand in front") {
  const Tensor column({2, 1}, {10, 20}), row({3}, {1, 2, 3});
  const Tensor y = column + row;
  CHECK(y.shape() == Shape{2, 3});
  CHECK(list(y.values()) == Reals{11, 12, 13, 21, 22, 23});
  CHECK(list((column - row).values()) == Reals{9, 8, 7, 19, 18, 17});
  CHECK(list((column * row).values()) == Reals{10, 20, 30, 20, 40, 60});
  CHECK(list((column / Tensor({2}, {2, 4})).values()) == Reals{5, 2.5, 10, 5});
  CHECK((Tensor::scalar(1) + Tensor::scalar(2)).shape() == Shape{});
}

TEST_CASE("a tensor that is used twice receives both gradients") {
  Tensor x = Tensor::scalar(2).set_requires_grad();
  const Tensor y = x * x;
  (y + y).backward();
  CHECK(x.grad()[0] == 8);

  Tensor a = Tensor::scalar(-2).set_requires_grad(), b = Tensor::scalar(3).set_requires_grad();
  const Tensor d = a * b, e = a + b, f = d * e;
  f.backward();
  CHECK(f.item() == -6);
  CHECK(a.grad()[0] == -3);
  CHECK(b.grad()[0] == -8);
}

TEST_CASE("equal shapes give the same on many threads as a broadcast does on one") {
  Rng rng(3);
  const Tensor a = random_uniform({1, 300'000}, rng), b = random_away_from_zero({1, 300'000}, rng);
  const Tensor same = a / b, broadcast = a / Tensor({300'000}, b.values());
  CHECK(list(same.values()) == list(broadcast.values()));
}

TEST_CASE("division follows IEEE 754 at zero") {
  const Tensor y = Tensor({3}, {1, -1, 0}) / Tensor::zeros({3});
  CHECK(y.values()[0] == INFINITY);
  CHECK(y.values()[1] == -INFINITY);
  CHECK(std::isnan(y.values()[2]));
}

TEST_CASE("five rounds of forward and backward give the same bytes") {
  Rng rng(4);
  Tensor x = random_uniform({3, 4}, rng).set_requires_grad(), b = random_away_from_zero({4}, rng).set_requires_grad();
  Reals first;
  for (int round = 0; round < 5; ++round) {
    sum(exp(x) / b - x * b).backward();
    if (round == 0) first = list(b.grad());
    CHECK(list(b.grad()) == first);
    x.clear_grad();
    b.clear_grad();
  }
}

TEST_CASE("shapes that do not broadcast are named") {
  CHECK_THROWS_WITH_AS(mul(Tensor({2, 3}), Tensor({2})),
                       "mul: shapes (2, 3) and (2) do not broadcast: extents 3 and 2 differ and neither is 1; "
                       "reshape one of them",
                       ShapeError);
}
