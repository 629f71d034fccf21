#include "autograd/ops/cross_entropy.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "autograd/error.h"
#include "autograd/gradcheck.h"

using namespace gradus;

static constexpr double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-5;

static double loss_of(const Tensor& logits, std::initializer_list<int> targets) {
  return static_cast<double>(cross_entropy(logits, std::vector<int>(targets)).item());
}

TEST_CASE("the surprise of one among V equals is ln V") {
  CHECK(loss_of(Tensor::full({1, 65}, 3), {17}) == doctest::Approx(std::log(65.0)));
}

TEST_CASE("cross_entropy neither overflows nor underflows") {
  Tensor high({1, 2}, {1000, 0}), low({1, 2}, {-1000, -1000});
  CHECK(loss_of(high, {1}) == doctest::Approx(1000));
  CHECK(loss_of(low, {0}) == doctest::Approx(0.693147));
  for (Tensor* logits : {&high, &low}) {
    logits->set_requires_grad();
    cross_entropy(*logits, std::vector<int>{1}).backward();
    CHECK(std::isfinite(logits->grad()[0]));
    CHECK(std::abs(logits->grad()[0] + logits->grad()[1]) < (sizeof(Real) == 8 ? 1e-12 : 1e-4));
  }
}

// A log-sum-exp of 4096 kept as one float knows it to 2⁻¹² only.
TEST_CASE("adding one number to all logits changes no digit of the gradient") {
  Tensor low({1, 3}, {0, 1, 2}), high({1, 3}, {4096, 4097, 4098});
  for (Tensor* logits : {&low, &high}) cross_entropy(logits->set_requires_grad(), std::vector<int>{1}).backward();
  for (std::size_t i = 0; i < 3; ++i) CHECK(high.grad()[i] == low.grad()[i]);
}

TEST_CASE("every row of the gradient sums to zero, and only the target's entry is negative") {
  Rng rng(1);
  Tensor logits = random_uniform({4, 9}, rng, -5, 5).set_requires_grad();
  const std::vector<int> targets{8, 0, 3, 3};
  cross_entropy(logits, targets).backward();
  for (std::size_t row = 0; row < 4; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < 9; ++i) {
      const Real slope = logits.grad()[row * 9 + i];
      sum += static_cast<double>(slope);
      CHECK((slope < 0) == (static_cast<int>(i) == targets[row]));
    }
    CHECK(std::abs(sum) < tolerance);
  }
}

TEST_CASE("the mean is over the counted targets, and an ignored row has a gradient of exactly zero") {
  Tensor logits = Tensor::zeros({3, 4}).set_requires_grad();
  const Tensor loss = cross_entropy(logits, std::vector<int>{0, ignore_index, 2});
  loss.backward();
  CHECK(loss.item() == doctest::Approx(1.386294));
  const double expected[] = {-0.375, 0.125, 0.125, 0.125, 0, 0, 0, 0, 0.125, 0.125, -0.375, 0.125};
  for (std::size_t i = 0; i < 12; ++i) CHECK(logits.grad()[i] == doctest::Approx(expected[i]));
  for (std::size_t i = 4; i < 8; ++i) CHECK(logits.grad()[i] == 0);
}

TEST_CASE("with nothing counted the loss is 0 and so is every gradient") {
  const std::vector<int> targets(3, ignore_index);
  for (Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    for (bool fused : {true, false}) {
      Tensor logits = Tensor::full({3, 4}, 2).set_requires_grad();
      const Tensor loss = (fused ? cross_entropy : cross_entropy_composed)(logits, targets, reduction, ignore_index);
      loss.backward(Tensor::full(loss.shape(), 1));
      for (Real value : loss.values()) CHECK(value == 0);
      REQUIRE(logits.has_grad());
      for (Real value : logits.grad()) CHECK(value == 0);
    }
}

TEST_CASE("cross_entropy and its composition agree in value and gradient, for every reduction and any ignored id") {
  Rng rng(2);
  const std::vector<int> targets{1, 0, 6, ignore_index, 2, 0};
  for (int ignored : {ignore_index, 0})
    for (Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
      Tensor logits = random_uniform({2, 3, 7}, rng, -5, 5).set_requires_grad();
      std::vector<int> ids = targets;
      if (ignored == 0) ids[3] = 5;
      Tensor cotangent;
      std::vector<double> results[2];
      for (bool fused : {true, false}) {
        logits.clear_grad();
        const Tensor loss = (fused ? cross_entropy : cross_entropy_composed)(logits, ids, reduction, ignored);
        CHECK(loss.shape() == (reduction == Reduction::none ? Shape{6} : Shape{}));
        if (fused) cotangent = random_uniform(loss.shape(), rng);
        loss.backward(cotangent);
        for (std::span<const Real> numbers : {loss.values(), logits.grad()})
          results[fused].insert(results[fused].end(), numbers.begin(), numbers.end());
      }
      for (std::size_t i = 0; i < results[0].size(); ++i) CHECK(std::abs(results[0][i] - results[1][i]) < tolerance);
    }
}

TEST_CASE("cross_entropy refuses targets that do not fit, and says which") {
  const Tensor logits = Tensor::zeros({2, 5});
  CHECK_THROWS_WITH_AS(cross_entropy(logits, std::vector<int>{1}),
                       "cross_entropy: 1 targets for (2, 5), which has 2 rows; give one target a row", ShapeError);
  CHECK_THROWS_WITH_AS(cross_entropy(logits, std::vector<int>{1, 5}),
                       "cross_entropy: target 5 of row 1 is not in 0 … 4; one that must not count is -100", ShapeError);
  CHECK_THROWS_WITH_AS(cross_entropy(logits, std::vector<int>{-1, 0}, Reduction::sum, 3),
                       "cross_entropy: target -1 of row 0 is not in 0 … 4; one that must not count is 3", ShapeError);
  CHECK_THROWS_WITH_AS(cross_entropy(Tensor::scalar(1), std::vector<int>{0}),
                       "cross_entropy: the logits are a scalar; they need a last axis to choose from", ShapeError);
}
