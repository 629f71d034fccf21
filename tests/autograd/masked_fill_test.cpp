#include "autograd/ops/masked_fill.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "autograd/error.h"

using namespace gradus;

using Reals = std::vector<Real>;
static Reals list(std::span<const Real> values) { return {values.begin(), values.end()}; }

TEST_CASE("one mask serves every matrix of a batch") {
  const int mask[] = {0, 1, 0, 0};
  Tensor x = Tensor({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}).set_requires_grad();
  const Tensor y = masked_fill(x, mask, -INFINITY);
  CHECK(list(y.values()) == Reals{1, -INFINITY, 3, 4, 5, -INFINITY, 7, 8});
  y.backward(Tensor::full({2, 2, 2}, 3));
  CHECK(list(x.grad()) == Reals{3, 0, 3, 3, 3, 0, 3, 3});
}

TEST_CASE("a mask as long as x decides for every value") {
  const int mask[] = {0, 1, 0, 0, 1, 1, 0, 1};
  const Tensor x({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(list(masked_fill(x, mask, 0).values()) == Reals{1, 0, 3, 4, 0, 0, 7, 0});
}

TEST_CASE("what is masked may hold a NaN; neither the result nor the gradient sees it") {
  const int mask[] = {1, 0};
  Tensor x = Tensor({2}, {NAN, 5}).set_requires_grad();
  const Tensor y = masked_fill(x, mask, 0);
  y.backward(Tensor({2}, {NAN, 1}));
  CHECK(list(y.values()) == Reals{0, 5});
  CHECK(list(x.grad()) == Reals{0, 1});
}

TEST_CASE("the mask is copied: it may change or end before backward") {
  Tensor x = Tensor({2}, {1, 2}).set_requires_grad();
  std::vector<int> mask = {1, 0};
  const Tensor y = masked_fill(x, mask, 0);
  mask = {0, 1};
  y.backward(Tensor::full({2}, 1));
  CHECK(list(x.grad()) == Reals{0, 1});
}

TEST_CASE("a scalar and an empty tensor can be masked too") {
  CHECK(masked_fill(Tensor::scalar(4), std::vector<int>{1}, 2).item() == 2);
  CHECK(masked_fill(Tensor({0, 3}), {}, 2).size() == 0);
}

TEST_CASE("masked_fill names a mask that does not fit and a number that is neither 0 nor 1") {
  CHECK_THROWS_WITH_AS(masked_fill(Tensor({2, 3, 4}), std::vector<int>(4, 0), 0),
                       "masked_fill: a mask of 4 numbers does not fit x (2, 3, 4); give 12, for the last two axes, or "
                       "24, one for every value",
                       ShapeError);
  CHECK_THROWS_WITH_AS(masked_fill(Tensor({2}), std::vector<int>{0, 2}, 0),
                       "masked_fill: mask[1] is 2; it must be 1 (fill) or 0 (keep)", ShapeError);
}
