#include "autograd/ops/pointwise.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/gradcheck.h"

using namespace gradus;

using Function = Tensor (*)(const Tensor&);

static double at(Function f, double x) { return static_cast<double>(f(Tensor::scalar(x)).item()); }
static double slope_at(Function f, double x) {
  Tensor leaf = Tensor::scalar(x).set_requires_grad();
  f(leaf).backward();
  return static_cast<double>(leaf.grad()[0]);
}
template <int p>
static Tensor power(const Tensor& x) {
  return pow(x, p);
}

TEST_CASE("a whole power has its slope at zero and below") {
  CHECK(slope_at(power<2>, -2) == -4);
  CHECK(slope_at(power<3>, 0) == 0);
  CHECK(slope_at(power<3>, -2) == 12);
  CHECK(slope_at(power<1>, 0) == 1);
  CHECK(slope_at(power<0>, 0) == 0);
  CHECK(at(power<0>, 0) == 1);
  CHECK(at(power<-1>, -4) == -0.25);
  CHECK(std::isnan(pow(Tensor::scalar(-1), 0.5).item()));
}

TEST_CASE("pointwise functions have the values of the textbooks") {
  CHECK(at(log, 2) == doctest::Approx(0.693147180559945));
  CHECK(at(exp, 0.693147180559945) == doctest::Approx(2));
  CHECK(at(sqrt, 9) == 3);
  CHECK(at(tanh, 0.549306144334055) == doctest::Approx(0.5));  // ½ ln 3
  CHECK(at(sigmoid, 1.09861228866811) == doctest::Approx(0.75));  // ln 3
  CHECK(at(silu, 1.09861228866811) == doctest::Approx(0.75 * 1.09861228866811));
  CHECK(at(relu, -2) == 0);
  CHECK(at(relu, 3) == 3);
  CHECK(at(gelu, 1) == doctest::Approx(0.841344746068543));  // Φ(1)
  CHECK(at([](const Tensor& x) { return 6 / x - 1; }, 2) == doctest::Approx(2));
  CHECK(at([](const Tensor& x) { return 1 - x / 2; }, 3) == doctest::Approx(-0.5));
}

TEST_CASE("slopes at zero: sigmoid ¼, tanh 1, silu and both gelus ½, relu 0") {
  CHECK(slope_at(sigmoid, 0) == 0.25);
  CHECK(slope_at(tanh, 0) == 1);
  CHECK(slope_at(silu, 0) == 0.5);
  CHECK(slope_at(gelu, 0) == 0.5);
  CHECK(slope_at(gelu_tanh, 0) == 0.5);
  CHECK(slope_at(relu, 0) == 0);
}

TEST_CASE("sigmoid and silu neither overflow nor lose their slope far from zero") {
  CHECK(at(silu, 1000) == 1000);
  CHECK(at(silu, -1000) == 0);
  CHECK(slope_at(silu, 1000) == 1);
  CHECK(slope_at(silu, -1000) == 0);
  CHECK(at(sigmoid, 1000) == 1);
  CHECK(at(sigmoid, -1000) == 0);
  CHECK(slope_at(sigmoid, 1000) == 0);
  CHECK(slope_at(sigmoid, -1000) == 0);
  for (Function f : {gelu, gelu_tanh}) {
    CHECK(at(f, 1000) == 1000);
    CHECK(at(f, -1000) == 0);
    CHECK(slope_at(f, 1000) == 1);
    CHECK(slope_at(f, -1000) == 0);
  }
}

TEST_CASE("gelu's approximation stays within a thousandth of gelu") {
  for (double x = -6; x <= 6; x += 0.125) CHECK(std::abs(at(gelu, x) - at(gelu_tanh, x)) < 1e-3);
}

TEST_CASE("infinities arrive at the limits") {
  CHECK(at(exp, INFINITY) == INFINITY);
  CHECK(at(exp, -INFINITY) == 0);
  CHECK(at(log, 0) == -INFINITY);
  CHECK(at(log, INFINITY) == INFINITY);
  CHECK(std::isnan(at(log, -1)));
  CHECK(std::isnan(at(sqrt, -1)));
  CHECK(slope_at(sqrt, 0) == INFINITY);
  CHECK(at(tanh, -INFINITY) == -1);
  CHECK(at(sigmoid, INFINITY) == 1);
  CHECK(at(sigmoid, -INFINITY) == 0);
  CHECK(at(relu, INFINITY) == INFINITY);
  CHECK(at(relu, -INFINITY) == 0);
  CHECK(at(silu, INFINITY) == INFINITY);
}

TEST_CASE("no pointwise function hides a NaN") {
  const Function functions[] = {neg,  exp,  log,  sqrt,      tanh,     sigmoid,
                                relu, silu, gelu, gelu_tanh, power<2>, [](const Tensor& x) { return 2 * x + 1; }};
  for (Function f : functions) CHECK(std::isnan(at(f, NAN)));
}

TEST_CASE("a long tensor gives every element what a short one gives") {
  Rng rng(6);
  const std::size_t n = 200'003;
  Tensor x = random_uniform({n}, rng, -20, 20).set_requires_grad();
  const Tensor y = silu(x);
  y.backward(Tensor::full({n}, 1));
  for (std::size_t i = 0; i < n; i += 9'973) {
    const double x_i = static_cast<double>(x.values()[i]);
    CHECK(static_cast<double>(y.values()[i]) == doctest::Approx(at(silu, x_i)).epsilon(1e-5));
    CHECK(static_cast<double>(x.grad()[i]) == doctest::Approx(slope_at(silu, x_i)).epsilon(1e-5));
  }
}
