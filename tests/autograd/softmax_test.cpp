#include "autograd/ops/softmax.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/pointwise.h"
#include "autograd/parallel.h"

using namespace gradus;

static const double tolerance = sizeof(Real) == 8 ? 1e-14 : 1e-6;

static void check_near(std::span<const Real> values, const std::vector<double>& expected) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(static_cast<double>(values[i]) == doctest::Approx(expected[i]).epsilon(tolerance));
}

static double sum_of(std::span<const Real> values) {
  double sum = 0;
  for (Real value : values) sum += static_cast<double>(value);
  return sum;
}

TEST_CASE("softmax turns odds of 1 to 3 into ¼ and ¾") {
  const Tensor x({2}, {0, static_cast<Real>(std::log(3.0))});
  check_near(softmax(x).values(), {0.25, 0.75});
  check_near(log_softmax(x).values(), {std::log(0.25), std::log(0.75)});
}

TEST_CASE("softmax of equal numbers is uniform, of one number 1") {
  check_near(softmax(Tensor::full({1, 5}, 7)).values(), {0.2, 0.2, 0.2, 0.2, 0.2});
  check_near(softmax(Tensor::full({2, 1}, -3)).values(), {1, 1});
  check_near(log_softmax(Tensor::full({2, 1}, -3)).values(), {0, 0});
}

TEST_CASE("the scores 2 and 0 give the weights 0.880797 and 0.119203") {
  const Tensor weights = softmax(Tensor({2}, {2, 0}));
  CHECK(static_cast<double>(weights.values()[0]) == doctest::Approx(0.880797077977882));
  CHECK(static_cast<double>(weights.values()[1]) == doctest::Approx(0.119202922022118));
}

TEST_CASE("softmax rows sum to 1 and are the exponential of log_softmax") {
  Rng rng(1);
  const Tensor x = random_uniform({4, 3, 37}, rng, -10, 10);
  const Tensor y = softmax(x), same = exp(log_softmax(x));
  for (std::size_t row = 0; row < 12; ++row)
    CHECK(sum_of(y.values().subspan(row * 37, 37)) == doctest::Approx(1).epsilon(tolerance));
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y.values()[i] == doctest::Approx(same.values()[i]).epsilon(1e-5));
}

TEST_CASE("softmax does not change when a whole row moves") {
  const Tensor x({3}, {0.5, -1, 2}), far({3}, {1000.5, 999, 1002});
  const Tensor y = softmax(x), moved = softmax(far);
  for (std::size_t i = 0; i < 3; ++i) CHECK(y.values()[i] == doctest::Approx(moved.values()[i]).epsilon(1e-5));
}

TEST_CASE("log_softmax neither overflows nor loses the small part of a large number") {
  CHECK(log_softmax(Tensor({2}, {1000, 0})).values()[1] == -1000);
  for (const double far : {-1000.0, 0.0, 1000.0})
    check_near(log_softmax(Tensor::full({2}, far)).values(), {-0.693147180559945309, -0.693147180559945309});
}

TEST_CASE("every row of the gradient sums to 0, also for logits of ±1000") {
  for (Tensor (*op)(const Tensor&) : {softmax, log_softmax}) {
    Tensor x = Tensor({2, 3}, {1000, 0, -1000, -1000, -1000, -1000}).set_requires_grad();
    op(x).backward(Tensor({2, 3}, {0.5, -2, 1, 0.25, 4, -1}));
    for (Real value : x.grad()) CHECK(std::isfinite(value));
    CHECK(std::abs(sum_of(x.grad().first(3))) < 1e-6);
    CHECK(std::abs(sum_of(x.grad().last(3))) < 1e-6);
  }
}

TEST_CASE("a softmax row's gradient through its sum is 0") {
  Rng rng(2);
  Tensor x = random_uniform({1, 6}, rng).set_requires_grad();
  softmax(x).backward(Tensor::full({1, 6}, 1));
  for (Real value : x.grad()) CHECK(std::abs(value) < 1e-7);
}

// Between two choices softmax is the sigmoid of their difference, with slope p (1 − p) = ¼ ¾.
TEST_CASE("softmax of two numbers has the sigmoid's slope") {
  Tensor x = Tensor({2}, {0, static_cast<Real>(std::log(3.0))}).set_requires_grad();
  softmax(x).backward(Tensor({2}, {1, 0}));
  check_near(x.grad(), {0.1875, -0.1875});
}

TEST_CASE("the gradient of −ln p is p minus one at the target") {
  Tensor x = Tensor({2}, {0, static_cast<Real>(std::log(3.0))}).set_requires_grad();
  log_softmax(x).backward(Tensor({2}, {-1, 0}));
  check_near(x.grad(), {-0.75, 0.75});
}

TEST_CASE("a row of only −inf gives zeros, its logarithm −inf, and neither has a gradient") {
  Tensor x = Tensor::full({2, 5}, -INFINITY).set_requires_grad();
  for (std::size_t i = 5; i < 10; ++i) x.mutable_values()[i] = 1;
  const Tensor y = softmax(x), log_y = log_softmax(x);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(y.values()[i] == 0);
    CHECK(log_y.values()[i] == -INFINITY);
    CHECK(y.values()[5 + i] == doctest::Approx(0.2));
  }
  const Tensor cotangent({2, 5}, {1, 2, 3, 4, 5, 1, 2, 3, 4, 5});
  for (const Tensor& result : {y, log_y}) {
    result.backward(cotangent);
    for (std::size_t i = 0; i < 5; ++i) CHECK(x.grad()[i] == 0);
    CHECK(x.grad()[5] != 0);
    x.clear_grad();
  }
}

TEST_CASE("a masked row is zeros even where its scores are the smallest number there is") {
  const Tensor x = Tensor::full({1, 5}, static_cast<double>(std::numeric_limits<Real>::lowest()));
  const std::vector<int> mask(5, 1);
  const Tensor y = softmax(masked_fill(x, mask, -INFINITY));
  for (Real value : y.values()) CHECK(value == 0);
}

TEST_CASE("a −inf among numbers takes no part") {
  check_near(softmax(Tensor({3}, {0, -INFINITY, static_cast<Real>(std::log(3.0))})).values(), {0.25, 0, 0.75});
}

TEST_CASE("no place in a row hides a NaN") {
  for (Tensor (*op)(const Tensor&) : {softmax, log_softmax})
    for (const Real other : {Real{1}, -std::numeric_limits<Real>::infinity()})
      for (std::size_t place = 0; place < 9; ++place) {
        Tensor x = Tensor::full({9}, static_cast<double>(other));
        x.mutable_values()[place] = NAN;
        const Tensor y = op(x);
        for (Real value : y.values()) CHECK(std::isnan(value));
      }
}

TEST_CASE("softmax gives the same bytes on one thread and on three") {
  Rng rng(3);
  const std::size_t threads = thread_count();
  Tensor x = random_uniform({3000, 65}, rng, -5, 5).set_requires_grad();
  const Tensor cotangent = random_uniform(x.shape(), rng);
  for (Tensor (*op)(const Tensor&) : {softmax, log_softmax}) {
    std::vector<Real> values[2], gradients[2];
    for (const std::size_t round : {0, 1}) {
      set_thread_count(round == 0 ? 1 : 3);
      const Tensor y = op(x);
      y.backward(cotangent);
      values[round].assign(y.values().begin(), y.values().end());
      gradients[round].assign(x.grad().begin(), x.grad().end());
      x.clear_grad();
    }
    CHECK(values[0] == values[1]);
    CHECK(gradients[0] == gradients[1]);
  }
  set_thread_count(threads);
}

TEST_CASE("softmax needs an axis, and an empty one is no trouble") {
  CHECK_THROWS_WITH_AS(softmax(Tensor::scalar(1)), "softmax: x is a scalar; it needs a last axis to share 1 over",
                       ShapeError);
  CHECK_THROWS_WITH_AS(log_softmax(Tensor::scalar(1)),
                       "log_softmax: x is a scalar; it needs a last axis to share 1 over", ShapeError);
  CHECK(softmax(Tensor({0, 3})).size() == 0);
  CHECK(softmax(Tensor({3, 0})).shape() == Shape{3, 0});
}
