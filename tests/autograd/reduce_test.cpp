#include "autograd/ops/reduce.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "autograd/error.h"
#include "autograd/ops/binary.h"

using namespace gradus;

using Reals = std::vector<Real>;
static Reals list(std::span<const Real> values) { return {values.begin(), values.end()}; }

TEST_CASE("a reduction runs along the axis that was named") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(list(sum(x, 0).values()) == Reals{5, 7, 9});
  CHECK(list(sum(x, 1).values()) == Reals{6, 15});
  CHECK(list(mean(x, 1).values()) == Reals{2, 5});
  CHECK(list(max(x, 0).values()) == Reals{4, 5, 6});
  CHECK(sum(x).item() == 21);
  CHECK(mean(x).item() == 3.5);
  CHECK(max(x).item() == 6);
}

TEST_CASE("a reduced axis goes, or stays with extent 1") {
  const Tensor x = Tensor::zeros({2, 3, 4});
  CHECK(sum(x, 1).shape() == Shape{2, 4});
  CHECK(sum(x, 1, KeepAxis::yes).shape() == Shape{2, 1, 4});
  CHECK(mean(x, 2, KeepAxis::yes).shape() == Shape{2, 3, 1});
  CHECK(max(x, 0).shape() == Shape{3, 4});
  CHECK(sum(x).shape() == Shape{});
}

TEST_CASE("what is measured from the mean does not change when everything moves together") {
  Tensor x = Tensor({4}, {1, 2, 3, 4}).set_requires_grad();
  (x - mean(x)).backward(Tensor::full({4}, 1));
  CHECK(list(x.grad()) == Reals{0, 0, 0, 0});
  x.clear_grad();
  (x - mean(x)).backward(Tensor({4}, {1, 0, 0, 0}));
  CHECK(list(x.grad()) == Reals{0.75, -0.25, -0.25, -0.25});
}

TEST_CASE("among equal maxima the first takes the whole gradient") {
  Tensor x = Tensor({3}, {1, 1, 1}).set_requires_grad();
  max(x).backward();
  CHECK(list(x.grad()) == Reals{1, 0, 0});

  Tensor many = Tensor::full({70'000}, 2.5).set_requires_grad();
  max(many).backward();
  CHECK(std::accumulate(many.grad().begin(), many.grad().end(), 0.0) == 1);
}

TEST_CASE("a NaN anywhere is the maximum, and the sum, and the mean") {
  for (std::size_t place = 0; place < 3; ++place) {
    Tensor x = Tensor({3}, {3, -INFINITY, INFINITY});
    x.mutable_values()[place] = NAN;
    CHECK(std::isnan(max(x).item()));
    CHECK(std::isnan(sum(x).item()));
    CHECK(std::isnan(mean(x, 0).item()));
  }
}

TEST_CASE("the maximum of a row of −inf is −inf") { CHECK(max(Tensor::full({3}, -INFINITY)).item() == -INFINITY); }

TEST_CASE("a sum of many equal numbers keeps its digits") {
  // Ten million additions of 0.1 in float would stop near 1.09 million.
  CHECK(static_cast<double>(sum(Tensor::full({10'000'000}, 0.1)).item()) == doctest::Approx(1e6).epsilon(1e-6));
}

TEST_CASE("an empty sum is 0, and an empty mean or maximum is an error") {
  CHECK(sum(Tensor({0})).item() == 0);
  CHECK(list(sum(Tensor({0, 2}), 0).values()) == Reals{0, 0});
  CHECK_THROWS_WITH_AS(mean(Tensor({2, 0}), 1), "mean: axis 1 of x (2, 0) is empty; an empty mean has no value",
                       ShapeError);
  CHECK_THROWS_WITH_AS(max(Tensor({0})), "max: axis 0 of x (0) is empty; an empty maximum has no value", ShapeError);
}

TEST_CASE("an axis that does not exist is named") {
  CHECK_THROWS_WITH_AS(sum(Tensor({2, 3}), 2), "sum: axis 2 of x (2, 3) does not exist", ShapeError);
}
