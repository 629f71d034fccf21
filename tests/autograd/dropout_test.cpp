#include "autograd/ops/dropout.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "autograd/error.h"
#include "autograd/parallel.h"

using namespace gradus;

using Reals = std::vector<Real>;
static Reals list(std::span<const Real> values) { return {values.begin(), values.end()}; }

TEST_CASE("dropout keeps the mean: a value is 0 or 1/(1 − p) of itself, in the right shares") {
  for (const double p : {0.1, 0.5, 0.9}) {
    Rng rng(1);
    const Tensor y = dropout(Tensor::full({100'000}, 1), p, rng);
    double sum = 0;
    for (Real value : y.values()) {
      sum += static_cast<double>(value);
      if (value != 0) REQUIRE(static_cast<double>(value) == doctest::Approx(1 / (1 - p)));
    }
    const double standard_error = std::sqrt(p / (1 - p) / 100'000);
    CHECK(std::abs(sum / 100'000 - 1) < 4 * standard_error);
  }
}

TEST_CASE("a value's gradient goes the way the value went") {
  Rng rng(2);
  Tensor x = Tensor::full({1000}, 1).set_requires_grad();
  const Tensor y = dropout(x, 0.5, rng);
  const Reals values = list(y.values());
  y.backward(Tensor::full({1000}, 1));
  CHECK(list(x.grad()) == values);
}

TEST_CASE("a dropped infinity or NaN is 0") {
  Rng rng(3);
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    std::size_t zeros = 0;
    const Tensor y = dropout(Tensor::full({100}, bad), 0.5, rng);
    for (Real value : y.values()) zeros += value == 0;
    CHECK(zeros > 25);
  }
}

TEST_CASE("the number of threads does not choose what falls") {
  const std::size_t threads = thread_count();
  const Tensor x = Tensor::full({400'000}, 1);
  Reals results[2];
  for (const std::size_t round : {0, 1}) {
    set_thread_count(round == 0 ? 1 : 3);
    Rng rng(4);
    results[round] = list(dropout(x, 0.3, rng).values());
  }
  set_thread_count(threads);
  CHECK(results[0] == results[1]);
}

TEST_CASE("draws made many at a time are the draws made one by one") {
  Rng rng(8);
  rng.bits();
  const RandomRange draws = rng.reserve(103);
  std::vector<double> numbers(99);
  draws.fill(4, numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(numbers[i] == draws.uniform(4 + i));
}

TEST_CASE("two dropouts in a row drop different values, the same generator state the same") {
  Rng rng(5), again(5);
  const Tensor x = Tensor::full({1000}, 1);
  const Reals first = list(dropout(x, 0.5, rng).values()), second = list(dropout(x, 0.5, rng).values());
  CHECK(first != second);
  CHECK(first == list(dropout(x, 0.5, again).values()));
  CHECK(second == list(dropout(x, 0.5, again).values()));
}

TEST_CASE("p = 0 is the identity and draws nothing") {
  Rng rng(6);
  const Rng::State before = rng.state();
  const Tensor x = Tensor::full({3}, 1);
  CHECK(dropout(x, 0, rng) == x);
  CHECK(rng.state() == before);
}

TEST_CASE("dropout refuses a p that is no probability, or leaves nothing") {
  Rng rng(7);
  for (const double p : {-0.1, 1.0, std::nan("")}) CHECK_THROWS_AS(dropout(Tensor({2}), p, rng), ShapeError);
  CHECK_THROWS_WITH_AS(dropout(Tensor({2}), 1.5, rng),
                       "dropout: p must be at least 0 and below 1, not 1.5; at 1 nothing would be left to scale",
                       ShapeError);
}
