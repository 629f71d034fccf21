#include "autograd/ops/repeat_heads.h"

#include <doctest/doctest.h>

#include <vector>

#include "autograd/error.h"

using namespace gradus;

using Reals = std::vector<Real>;
static Reals list(std::span<const Real> values) { return {values.begin(), values.end()}; }

// Head h mod n_kv instead of h div group gives 1, 2, 1, 2: a model that trains and is wrong.
TEST_CASE("the copies of a head stand side by side") {
  Tensor x = Tensor({1, 1, 2, 1}, {1, 2}).set_requires_grad();
  const Tensor y = repeat_heads(x, 2);
  CHECK(y.shape() == Shape{1, 1, 4, 1});
  CHECK(list(y.values()) == Reals{1, 1, 2, 2});
  y.backward(Tensor({1, 1, 4, 1}, {1, 10, 100, 1000}));
  CHECK(list(x.grad()) == Reals{11, 1100});
}

TEST_CASE("each token's heads are repeated among themselves") {
  const Tensor y = repeat_heads(Tensor({1, 2, 1, 2}, {1, 2, 3, 4}), 3);
  CHECK(y.shape() == Shape{1, 2, 3, 2});
  CHECK(list(y.values()) == Reals{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4});
}

TEST_CASE("once is a copy") {
  const Tensor x({1, 1, 2, 2}, {1, 2, 3, 4});
  CHECK(list(repeat_heads(x, 1).values()) == list(x.values()));
}

TEST_CASE("repeat_heads refuses another number of axes and no repetition") {
  CHECK_THROWS_WITH_AS(repeat_heads(Tensor({2, 3, 4}), 2),
                       "repeat_heads: x (2, 3, 4) must have four axes, (B, T, H, D); reshape it", ShapeError);
  CHECK_THROWS_WITH_AS(repeat_heads(Tensor({1, 1, 1, 1}), 0),
                       "repeat_heads: a head cannot be repeated 0 times; 1 is a plain copy", ShapeError);
}
