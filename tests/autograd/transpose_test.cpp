#include "autograd/ops/transpose.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "autograd/error.h"
#include "autograd/gradcheck.h"

using namespace gradus;

using Reals = std::vector<Real>;
static Reals list(std::span<const Real> values) { return {values.begin(), values.end()}; }

TEST_CASE("transpose makes rows of columns") {
  const Tensor y = transpose(Tensor({2, 3}, {1, 2, 3, 4, 5, 6}), 0, 1);
  CHECK(y.shape() == Shape{3, 2});
  CHECK(list(y.values()) == Reals{1, 4, 2, 5, 3, 6});
}

TEST_CASE("element (…, i, …, j, …) moves to (…, j, …, i, …)") {
  Rng rng(1);
  const Tensor x = random_uniform({2, 3, 4, 5}, rng);
  const Tensor y = transpose(x, 1, 3);
  CHECK(y.shape() == Shape{2, 5, 4, 3});
  for (std::size_t a = 0; a < 2; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t c = 0; c < 4; ++c)
        for (std::size_t d = 0; d < 5; ++d)
          CHECK(y.values()[((a * 5 + d) * 4 + c) * 3 + b] == x.values()[((a * 3 + b) * 4 + c) * 5 + d]);
}

TEST_CASE("transposing twice is the identity, and so is an axis with itself; the order of the axes does not matter") {
  Rng rng(2);
  const Tensor x = random_uniform({3, 4, 5}, rng);
  CHECK(list(transpose(transpose(x, 0, 2), 0, 2).values()) == list(x.values()));
  CHECK(list(transpose(x, 0, 1).values()) == list(transpose(x, 1, 0).values()));
  CHECK(list(transpose(x, 1, 1).values()) == list(x.values()));
}

TEST_CASE("a large transpose on all threads is right forwards and backwards") {
  Rng rng(3);
  const std::size_t m = 700, n = 300;
  Tensor x = random_uniform({m, n}, rng).set_requires_grad();
  const Tensor y = transpose(x, 0, 1);
  y.backward(y);
  CHECK(std::ranges::equal(x.grad(), x.values()));
}

TEST_CASE("transpose names an axis that does not exist") {
  CHECK_THROWS_WITH_AS(transpose(Tensor({2, 3}), 0, 2),
                       "transpose: x (2, 3) has 2 axes, so axes 0 and 2 cannot be exchanged; the first axis is 0",
                       ShapeError);
}
