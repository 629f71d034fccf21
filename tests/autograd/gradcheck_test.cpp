// Planted bugs that the gradient check must find. In float, where it cannot see them, these tests do nothing.
#include "autograd/gradcheck.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/ops/binary.h"
#include "autograd/ops/pointwise.h"

using namespace gradus;

namespace {

constexpr bool sharp = sizeof(Real) == 8;

// y = a b, with what the test calls its backward.
template <class Function>
Tensor product(const Tensor& a, const Tensor& b, const Function& backward) {
  Tensor y(a.shape());
  for (std::size_t i = 0; i < y.size(); ++i) y.mutable_values()[i] = a.values()[i] * b.values()[i];
  return record(y, "product", {a, b}, [a, b, backward](const Tensor& out) { backward(out, a, b); });
}

// dx += factor · other · dy
void add(const Tensor& out, const Tensor& x, const Tensor& other, double factor) {
  if (!x.requires_grad()) return;
  for (std::size_t i = 0; i < x.size(); ++i)
    x.mutable_grad()[i] += static_cast<Real>(factor) * other.values()[i] * out.grad()[i];
}

template <class Function>
GradCheckResult check(const Function& backward) {
  const Tensor a({3}, {1, 2, 3}), b({3}, {4, 5, 6});
  return gradcheck("product", {{"a", a}, {"b", b}}, [=] { return product(a, b, backward); });
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("A right backward passes") {
  if (!sharp) return;
  const GradCheckResult result = check([](const Tensor& out, const Tensor& a, const Tensor& b) {
    add(out, a, b, 1);
    add(out, b, a, 1);
  });
  CHECK(result.failure == "");
  CHECK(result.error < 1e-10);
}

TEST_CASE("A factor that is off by a millionth is found, with operation, input, index and both numbers") {
  if (!sharp) return;
  const GradCheckResult result = check([](const Tensor& out, const Tensor& a, const Tensor& b) {
    add(out, a, b, 1);
    add(out, b, a, 1 + 1e-6);
  });
  CHECK(contains(result.failure, "product: db["));
  CHECK(contains(result.failure, "] of shape (3) is "));
  CHECK(contains(result.failure, " by backward and "));
  CHECK(contains(result.failure, " by differences, error "));
  CHECK(contains(result.failure, "(fresh gradients)"));
}

TEST_CASE("The message has the numbers as they are") {
  if (!sharp) return;
  const Tensor x({1}, {3});
  const GradCheckResult result = gradcheck("twice", {{"x", x}}, [=] {
    return record(Tensor({1}, {0}) + scale(Tensor({1}, x.values()), 2), "twice", {x}, [x](const Tensor& out) {
      x.mutable_grad()[0] += 3 * out.grad()[0];
    });
  });
  Rng rng(GradCheckOptions{}.seed);
  const double c = static_cast<double>(random_uniform({1}, rng).values()[0]);
  CHECK(result.failure == message("twice: dx[0] of shape (1) is {:.10g} by backward and {:.10g} by differences, error "
                                  "5.00e-01 (fresh gradients)",
                                  3 * c, 2 * c));
}

TEST_CASE("A backward that assigns where it must add is found") {
  if (!sharp) return;
  const GradCheckResult result = check([](const Tensor& out, const Tensor& a, const Tensor& b) {
    add(out, b, a, 1);
    if (!a.requires_grad()) return;
    for (std::size_t i = 0; i < a.size(); ++i) a.mutable_grad()[i] = b.values()[i] * out.grad()[i];
  });
  CHECK(contains(result.failure, "product: da[0] of shape (3) is "));
  CHECK(contains(result.failure, "(on top of gradients of 0.5; does backward assign where it must add?)"));
}

TEST_CASE("A gradient that is given to a frozen input is found") {
  if (!sharp) return;
  const GradCheckResult result = check([](const Tensor& out, const Tensor& a, const Tensor& b) {
    add(out, a, b, 1);
    for (std::size_t i = 0; i < b.size(); ++i) b.mutable_grad()[i] += a.values()[i] * out.grad()[i];
  });
  CHECK(
      result.failure ==
      "product: backward failed (with b frozen): gradient: a constant of shape (3) has none; call set_requires_grad() "
      "before it is used");
}

TEST_CASE("A gradient that is missing is found") {
  if (!sharp) return;
  const GradCheckResult result =
      check([](const Tensor& out, const Tensor& a, const Tensor& b) { add(out, a, b, 1); });
  CHECK(result.failure == "product: b got no gradient (fresh gradients)");
}

TEST_CASE("A gradient that goes missing when the other input is frozen is found") {
  if (!sharp) return;
  const GradCheckResult result = check([](const Tensor& out, const Tensor& a, const Tensor& b) {
    if (!a.requires_grad()) return;
    add(out, a, b, 1);
    add(out, b, a, 1);
  });
  CHECK(result.failure == "product: b got no gradient (with a frozen)");
}

TEST_CASE("A gradient of zeros is found where the function has a slope") {
  if (!sharp) return;
  const GradCheckResult result = check([](const Tensor& out, const Tensor& a, const Tensor& b) {
    add(out, a, b, 1);
    add(out, b, a, 0);
  });
  CHECK(contains(result.failure, "product: db[0] of shape (3) is 0 by backward and "));
}

TEST_CASE("A function without a slope shows nothing, so its check fails unless it is meant") {
  if (!sharp) return;
  const Tensor x({2}, {1, 2});
  const auto flat = [=] {
    return record(Tensor::zeros({2}), "flat", {x}, [x](const Tensor&) { x.mutable_grad(); });
  };
  CHECK(gradcheck("flat", {{"x", x}}, flat).failure ==
        "flat: the gradient of x is zero everywhere, so the check shows nothing; change the values, or name it in "
        "zero_gradients");
  CHECK(gradcheck("flat", {{"x", x}}, flat, {.zero_gradients = {"x"}}).passed());
}

TEST_CASE("A gradient that should be zero and is not is found") {
  if (!sharp) return;
  const Tensor x({2}, {1, 2});
  const auto flat = [=] {
    return record(Tensor::zeros({2}), "flat", {x},
                  [x](const Tensor&) { x.mutable_grad()[1] += static_cast<Real>(1e-3); });
  };
  CHECK(contains(gradcheck("flat", {{"x", x}}, flat, {.zero_gradients = {"x"}}).failure,
                 "flat: dx[1] of shape (2) is 0.001"));
}

TEST_CASE("A NaN is found in the gradient and in the values") {
  if (!sharp) return;
  const GradCheckResult result = check([](const Tensor& out, const Tensor& a, const Tensor& b) {
    add(out, a, b, std::numeric_limits<double>::quiet_NaN());
    add(out, b, a, 1);
  });
  CHECK(contains(result.failure, "product: da[0] of shape (3) is "));
  CHECK(contains(result.failure, "nan by backward and "));
  CHECK(std::isinf(result.error));

  const Tensor x({2}, {-1, -2});
  CHECK(contains(gradcheck("log", {{"x", x}}, [=] { return log(x); }).failure, "nan by differences"));
}

TEST_CASE("The check leaves the values as they were and no gradient behind") {
  const Tensor x({2}, {1, 2});
  gradcheck("exp", {{"x", x}}, [=] { return exp(x); });
  CHECK(x.values()[0] == 1);
  CHECK(x.values()[1] == 2);
  CHECK_FALSE(x.has_grad());
  CHECK(x.requires_grad());
}

TEST_CASE("Values away from zero keep their distance, on both sides") {
  Rng rng(3);
  int negative = 0;
  const Tensor x = random_away_from_zero({1000}, rng, 0.1);
  for (Real value : x.values()) {
    CHECK(std::abs(static_cast<double>(value)) >= 0.0999);
    negative += value < 0 ? 1 : 0;
  }
  CHECK(negative > 400);
  CHECK(negative < 600);
}
