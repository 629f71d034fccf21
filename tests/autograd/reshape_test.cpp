#include "autograd/ops/reshape.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "autograd/error.h"

using namespace gradus;

TEST_CASE("reshape keeps the numbers and their order, forwards and backwards") {
  Tensor x = Tensor({2, 3}, {1, 2, 3, 4, 5, 6}).set_requires_grad();
  const Tensor y = reshape(x, {3, 2});
  CHECK(y.shape() == Shape{3, 2});
  CHECK(std::ranges::equal(y.values(), x.values()));
  const Tensor cotangent({3, 2}, {6, 5, 4, 3, 2, 1});
  y.backward(cotangent);
  CHECK(std::ranges::equal(x.grad(), cotangent.values()));
}

TEST_CASE("reshape copies: a write to its result leaves x as it was") {
  const Tensor x({2}, {1, 2});
  Tensor y = reshape(x, {2, 1});
  y.mutable_values()[0] = 9;
  CHECK(x.values()[0] == 1);
}

TEST_CASE("reshape refuses another number of elements") {
  CHECK_THROWS_WITH_AS(reshape(Tensor({2, 3}), {4}),
                       "reshape: x (2, 3) has 6 values and (4) has 4; the numbers must agree", ShapeError);
}
