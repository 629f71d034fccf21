#include "autograd/ops/linear_cross_entropy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/linear.h"

using namespace gradus;

// 140 rows of 10 000 logits are two chunks; 140 of 7 are one.
TEST_CASE("linear_cross_entropy is cross_entropy of linear, in value and gradients, in one chunk and in several") {
  Rng rng(1);
  for (std::size_t vocabulary : {7, 10'000})
    for (Reduction reduction : {Reduction::mean, Reduction::sum}) {
      const std::size_t rows = 140, width = 3;
      Tensor x = random_uniform({2, 70, width}, rng).set_requires_grad();
      Tensor weight = random_uniform({vocabulary, width}, rng, -3, 3).set_requires_grad();
      std::vector<int> targets(rows);
      for (int& target : targets) target = static_cast<int>(rng.below(vocabulary));
      targets[2] = targets[139] = ignore_index;

      std::vector<double> results[2];
      for (bool fused : {true, false}) {
        x.clear_grad();
        weight.clear_grad();
        const Tensor loss = fused ? linear_cross_entropy(x, weight, targets, reduction)
                                  : cross_entropy(linear(x, weight), targets, reduction);
        loss.backward(0.5);
        for (std::span<const Real> numbers : {loss.values(), x.grad(), weight.grad()})
          results[fused].insert(results[fused].end(), numbers.begin(), numbers.end());
      }
      REQUIRE(results[0].size() == 1 + x.size() + weight.size());
      double worst = 0;
      for (std::size_t i = 0; i < results[0].size(); ++i)
        worst = std::max(worst, std::abs(results[0][i] - results[1][i]) / (1 + std::abs(results[1][i])));
      CHECK(worst < (sizeof(Real) == 8 ? 1e-12 : 2e-5));
    }
}

TEST_CASE("linear_cross_entropy with nothing counted is 0 and so is every gradient") {
  Tensor x = Tensor::full({2, 3}, 1).set_requires_grad(), weight = Tensor::full({4, 3}, 1).set_requires_grad();
  const Tensor loss = linear_cross_entropy(x, weight, std::vector<int>(2, ignore_index));
  loss.backward();
  CHECK(loss.item() == 0);
  REQUIRE(x.grad().size() == 6);
  REQUIRE(weight.grad().size() == 12);
  for (Real value : x.grad()) CHECK(value == 0);
  for (Real value : weight.grad()) CHECK(value == 0);
}

TEST_CASE("linear_cross_entropy refuses what does not fit, and says the shapes") {
  const Tensor x = Tensor::zeros({2, 3}), weight = Tensor::zeros({5, 3});
  const std::vector<int> targets{0, 1};
  CHECK_THROWS_WITH_AS(linear_cross_entropy(x, Tensor({3, 5}), targets),
                       "linear_cross_entropy: the last axis of x (2, 3) must match the last axis of weight (3, 5), "
                       "(V, C)",
                       ShapeError);
  CHECK_THROWS_WITH_AS(linear_cross_entropy(x, Tensor({3}), targets),
                       "linear_cross_entropy: weight (3) must have two axes, (V, C), and a V above 0", ShapeError);
  CHECK_THROWS_WITH_AS(linear_cross_entropy(x, weight, std::vector<int>{0, 5}),
                       "linear_cross_entropy: target 5 of row 1 is not in 0 … 4; one that must not count is -100",
                       ShapeError);
  CHECK_THROWS_WITH_AS(linear_cross_entropy(x, weight, targets, Reduction::none),
                       "linear_cross_entropy: there is no Reduction::none; use cross_entropy(linear(x, weight), "
                       "targets)",
                       ShapeError);
}
