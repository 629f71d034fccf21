#include "autograd/ops/slice.h"

#include <doctest/doctest.h>

#include <vector>

#include "autograd/error.h"

using namespace gradus;

using Reals = std::vector<Real>;
static Reals list(std::span<const Real> values) { return {values.begin(), values.end()}; }

TEST_CASE("slice takes the entries begin … end − 1 of an axis") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(list(slice(x, 1, 1, 3).values()) == Reals{2, 3, 5, 6});
  CHECK(slice(x, 1, 1, 3).shape() == Shape{2, 2});
  CHECK(list(slice(x, 0, 1, 2).values()) == Reals{4, 5, 6});
  CHECK(list(slice(x, 0, 0, 2).values()) == list(x.values()));
}

TEST_CASE("what was not taken has a gradient of 0") {
  Tensor x = Tensor::zeros({2, 3}).set_requires_grad();
  slice(x, 1, 1, 2).backward(Tensor({2, 1}, {7, 8}));
  CHECK(list(x.grad()) == Reals{0, 7, 0, 0, 8, 0});
}

TEST_CASE("overlapping slices add their gradients") {
  Tensor x = Tensor::zeros({3}).set_requires_grad();
  slice(x, 0, 0, 2).backward(Tensor::full({2}, 1));
  slice(x, 0, 1, 3).backward(Tensor::full({2}, 1));
  CHECK(list(x.grad()) == Reals{1, 2, 1});
}

TEST_CASE("an empty slice is a tensor of no values") { CHECK(slice(Tensor({2, 3}), 1, 3, 3).shape() == Shape{2, 0}); }

TEST_CASE("slice names a range that does not lie in its axis") {
  CHECK_THROWS_WITH_AS(slice(Tensor({2, 3}), 1, 1, 4),
                       "slice: 1 … 4 does not lie in axis 1 of x (2, 3); the rule is begin ≤ end ≤ 3", ShapeError);
  CHECK_THROWS_AS(slice(Tensor({2, 3}), 1, 2, 1), ShapeError);
  CHECK_THROWS_WITH_AS(slice(Tensor({2, 3}), 2, 0, 1), "slice: axis 2 of x (2, 3) does not exist; the first axis is 0",
                       ShapeError);
}
