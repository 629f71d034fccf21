#include "autograd/ops/concat.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/slice.h"

using namespace gradus;

using Reals = std::vector<Real>;
static Reals list(std::span<const Real> values) { return {values.begin(), values.end()}; }

TEST_CASE("concat puts its inputs one behind the other along the axis") {
  const Tensor a({2, 1}, {1, 2}), b({2, 2}, {3, 4, 5, 6});
  CHECK(list(concat({a, b}, 1).values()) == Reals{1, 3, 4, 2, 5, 6});
  CHECK(list(concat({b, b}, 0).values()) == Reals{3, 4, 5, 6, 3, 4, 5, 6});
  CHECK(concat({a, b, a}, 1).shape() == Shape{2, 4});
}

TEST_CASE("slices put together again are the whole, forwards and backwards") {
  Rng rng(1);
  Tensor x = random_uniform({2, 5, 3}, rng).set_requires_grad();
  for (const std::size_t axis : {0, 1, 2}) {
    const std::size_t n = x.extent(axis), cut = n / 2;
    const Tensor y = concat({slice(x, axis, 0, cut), slice(x, axis, cut, n)}, axis);
    CHECK(list(y.values()) == list(x.values()));
    const Tensor cotangent = random_uniform(x.shape(), rng);
    y.backward(cotangent);
    CHECK(std::ranges::equal(x.grad(), cotangent.values()));
    x.clear_grad();
  }
}

TEST_CASE("an input that is there twice receives both gradients") {
  Tensor x = Tensor({1}, {5}).set_requires_grad();
  concat({x, x}, 0).backward(Tensor({2}, {2, 3}));
  CHECK(x.grad()[0] == 5);
}

TEST_CASE("an empty input adds nothing") {
  Tensor a = Tensor({2, 1}, {1, 2}).set_requires_grad();
  const Tensor empty({2, 0}), y = concat({empty, a, empty}, 1);
  CHECK(list(y.values()) == Reals{1, 2});
  y.backward(Tensor({2, 1}, {3, 4}));
  CHECK(list(a.grad()) == Reals{3, 4});
  CHECK(concat({Tensor({0, 2}), Tensor({0, 1})}, 1).shape() == Shape{0, 3});
}

TEST_CASE("concat names shapes that do not fit") {
  CHECK_THROWS_WITH_AS(concat({Tensor({2, 3}), Tensor({3, 3})}, 1),
                       "concat: (3, 3) cannot follow (2, 3) along axis 1; all other axes must agree", ShapeError);
  CHECK_THROWS_AS(concat({Tensor({2, 3}), Tensor({2})}, 0), ShapeError);
  CHECK_THROWS_WITH_AS(concat({Tensor({2})}, 1), "concat: axis 1 of (2) does not exist; the first axis is 0",
                       ShapeError);
  CHECK_THROWS_WITH_AS(concat(std::span<const Tensor>(), 0), "concat: there are no inputs; give at least one",
                       ShapeError);
}
