#include "autograd/ops/rms_norm.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/random.h"
#include "autograd/error.h"
#include "autograd/gradcheck.h"

using namespace gradus;

TEST_CASE("rms_norm's epsilon stands inside the root") {
  const Tensor y = rms_norm(Tensor::full({4}, 1e-4), Tensor::full({4}, 1), 1e-5);
  for (Real value : y.values()) CHECK(value == doctest::Approx(0.0316070).epsilon(1e-5));
}

TEST_CASE("rms_norm of zeros is zero with a finite gradient") {
  Tensor x = Tensor::zeros({2, 4}).set_requires_grad();
  const Tensor y = rms_norm(x, Tensor::full({4}, 1), 1e-5);
  y.backward(Tensor::full({2, 4}, 1));
  for (Real value : y.values()) CHECK(value == 0);
  for (Real value : x.grad()) CHECK(value == doctest::Approx(1 / std::sqrt(1e-5)));
}

TEST_CASE("rms_norm's gradient is orthogonal to its input where epsilon is 0") {
  Rng rng(1);
  Tensor x = random_uniform({3, 7}, rng).set_requires_grad();
  const Tensor gain = random_uniform({7}, rng);
  rms_norm(x, gain, 0).backward(random_uniform({3, 7}, rng));
  for (std::size_t row = 0; row < 3; ++row) {
    double product = 0;
    for (std::size_t i = row * 7; i < (row + 1) * 7; ++i)
      product += static_cast<double>(x.values()[i]) * static_cast<double>(x.grad()[i]);
    CHECK(std::abs(product) < (sizeof(Real) == 8 ? 1e-13 : 1e-5));
  }
}

TEST_CASE("rms_norm refuses a gain that is not as long as a row, and says both shapes") {
  CHECK_THROWS_WITH_AS(rms_norm(Tensor({2, 3}), Tensor({4}), 1e-5),
                       "rms_norm: gain (4) must match the last axis of x (2, 3): (3)", ShapeError);
}
