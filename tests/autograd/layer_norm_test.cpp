#include "autograd/ops/layer_norm.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "autograd/error.h"
#include "autograd/gradcheck.h"

using namespace gradus;

static constexpr double tolerance = sizeof(Real) == 8 ? 1e-12 : 2e-5;

TEST_CASE("layer_norm divides by the biased deviation") {
  const Tensor y = layer_norm(Tensor({4}, {1, 2, 3, 4}), Tensor({4}, {1, 1, 1, 2}), Tensor({4}, {0, 0, 0, 1}), 0);
  const double expected[] = {-1.341641, -0.447214, 0.447214, 3.683282};
  for (std::size_t i = 0; i < 4; ++i) CHECK(y.values()[i] == doctest::Approx(expected[i]).epsilon(1e-6));
}

TEST_CASE("layer_norm's epsilon stands inside the root") {
  const Tensor y = layer_norm(Tensor({2}, {Real(-1e-3), Real(1e-3)}), Tensor::full({2}, 1), {}, 3e-6);
  CHECK(y.values()[1] == doctest::Approx(0.5).epsilon(1e-5));
}

TEST_CASE("layer_norm does not change when a row is shifted, or stretched where epsilon is 0") {
  Rng rng(1);
  const Tensor x = random_uniform({3, 8}, rng), gain = random_uniform({8}, rng), bias = random_uniform({8}, rng);
  Tensor moved({3, 8}, x.values());
  for (Real& value : moved.mutable_values()) value = 4 * value + 16;
  const Tensor y = layer_norm(x, gain, bias, 0), z = layer_norm(moved, gain, bias, 0);
  for (std::size_t i = 0; i < y.size(); ++i)
    CHECK(std::abs(static_cast<double>(y.values()[i] - z.values()[i])) < tolerance);
}

TEST_CASE("layer_norm keeps small differences beside a large mean") {
  const Tensor y = layer_norm(Tensor({4}, {10000, 10001, 10002, 10003}), Tensor::full({4}, 1), {}, 0);
  CHECK(y.values()[0] == doctest::Approx(-1.341641).epsilon(1e-6));
  CHECK(y.values()[3] == doctest::Approx(1.341641).epsilon(1e-6));
}

TEST_CASE("layer_norm's gradient is orthogonal to a constant, and to its input where epsilon is 0") {
  Rng rng(2);
  Tensor x = random_uniform({3, 7}, rng).set_requires_grad();
  layer_norm(x, random_uniform({7}, rng), {}, 0).backward(random_uniform({3, 7}, rng));
  for (std::size_t row = 0; row < 3; ++row) {
    double with_one = 0, with_x = 0;
    for (std::size_t i = row * 7; i < (row + 1) * 7; ++i) {
      with_one += static_cast<double>(x.grad()[i]);
      with_x += static_cast<double>(x.values()[i]) * static_cast<double>(x.grad()[i]);
    }
    CHECK(std::abs(with_one) < tolerance);
    CHECK(std::abs(with_x) < tolerance);
  }
}

TEST_CASE("layer_norm of equal numbers is the bias, with a finite gradient") {
  Tensor x = Tensor::full({2, 4}, 3).set_requires_grad();
  const Tensor y = layer_norm(x, Tensor::full({4}, 1), Tensor::full({4}, 7), 1e-5);
  y.backward(Tensor({2, 4}, {1, 2, 3, 4, 0, 0, 0, 1}));
  for (Real value : y.values()) CHECK(value == 7);
  for (Real value : x.grad()) CHECK(std::isfinite(value));
}

TEST_CASE("layer_norm and its composition agree in value and gradients") {
  Rng rng(3);
  for (bool with_bias : {true, false}) {
    Tensor x = random_uniform({2, 3, 9}, rng), gain = random_uniform({9}, rng), bias = random_uniform({9}, rng);
    const Tensor cotangent = random_uniform({2, 3, 9}, rng);
    std::vector<double> results[2];
    for (bool fused : {true, false}) {
      for (Tensor* leaf : {&x, &gain, &bias}) {
        leaf->clear_grad();
        leaf->set_requires_grad();
      }
      const Tensor optional_bias = with_bias ? bias : Tensor();
      const Tensor y = (fused ? layer_norm : layer_norm_composed)(x, gain, optional_bias, 1e-3);
      y.backward(cotangent);
      for (std::span<const Real> numbers : {y.values(), x.grad(), gain.grad(), bias.grad()})
        results[fused].insert(results[fused].end(), numbers.begin(), numbers.end());
    }
    REQUIRE(results[0].size() == results[1].size());
    for (std::size_t i = 0; i < results[0].size(); ++i)
      CHECK(std::abs(results[0][i] - results[1][i]) < tolerance);
  }
}

TEST_CASE("layer_norm refuses what does not fit, and says the shapes") {
  const Tensor x({2, 3}), three({3}), four({4});
  CHECK_THROWS_WITH_AS(layer_norm(x, four, three, 1e-5),
                       "layer_norm: gain (4) must match the last axis of x (2, 3): (3)", ShapeError);
  CHECK_THROWS_WITH_AS(layer_norm(x, three, four, 1e-5),
                       "layer_norm: bias (4) must match the last axis of x (2, 3): (3)", ShapeError);
  CHECK_THROWS_WITH_AS(layer_norm(x, three, three, -1), "layer_norm: epsilon must be 0 or more, not -1", ShapeError);
  CHECK_THROWS_AS(layer_norm(x, three, three, NAN), ShapeError);
  CHECK_THROWS_WITH_AS(layer_norm(Tensor::scalar(1), three, three, 1e-5),
                       "layer_norm: x is a scalar; it needs a last axis to normalise over", ShapeError);
}
