#include "autograd/ops/swiglu.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "autograd/error.h"
#include "autograd/gradcheck.h"

using namespace gradus;

TEST_CASE("swiglu is up times gate times the gate's sigmoid") {
  const Tensor y = swiglu(Tensor({3}, {1, -2, 0}), Tensor({3}, {2, 3, 5}));
  const double expected[] = {1.462117, -0.715218, 0};
  for (std::size_t i = 0; i < 3; ++i) CHECK(y.values()[i] == doctest::Approx(expected[i]).epsilon(1e-5));
}

TEST_CASE("swiglu and its gradient are finite for gates far from 0") {
  Tensor gate({2}, {1000, -1000}), up({2}, {3, 3});
  gate.set_requires_grad();
  up.set_requires_grad();
  const Tensor y = swiglu(gate, up);
  y.backward(Tensor::full({2}, 1));
  CHECK(y.values()[0] == 3000);
  CHECK(y.values()[1] == 0);
  CHECK(gate.grad()[0] == 3);
  CHECK(gate.grad()[1] == 0);
  CHECK(up.grad()[0] == 1000);
  CHECK(up.grad()[1] == 0);
}

TEST_CASE("swiglu and its composition agree in value and gradients") {
  Rng rng(1);
  Tensor gate = random_uniform({3, 7}, rng, -6, 6).set_requires_grad();
  Tensor up = random_uniform({3, 7}, rng).set_requires_grad();
  const Tensor cotangent = random_uniform({3, 7}, rng);
  std::vector<double> results[2];
  for (bool fused : {true, false}) {
    gate.clear_grad();
    up.clear_grad();
    const Tensor y = fused ? swiglu(gate, up) : swiglu_composed(gate, up);
    y.backward(cotangent);
    for (std::span<const Real> numbers : {y.values(), gate.grad(), up.grad()})
      results[fused].insert(results[fused].end(), numbers.begin(), numbers.end());
  }
  for (std::size_t i = 0; i < results[0].size(); ++i)
    CHECK(std::abs(results[0][i] - results[1][i]) < (sizeof(Real) == 8 ? 1e-14 : 1e-5));
}

TEST_CASE("swiglu refuses two shapes that differ, and says both") {
  CHECK_THROWS_WITH_AS(swiglu(Tensor({2, 3}), Tensor({3})), "swiglu: gate (2, 3) and up (3) must have the same shape",
                       ShapeError);
}
