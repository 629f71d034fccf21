#include "autograd/gemm.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "autograd/error.h"
#include "autograd/parallel.h"
#include "autograd/random.h"

using namespace gradus;

namespace {

constexpr double tolerance = sizeof(Real) == 8 ? 1e-13 : 1e-5;
constexpr std::array both{Op::none, Op::transpose};

// A product with matrices of its own, each row `gap` numbers longer than what is used of it. What is not used is NaN.
struct Case {
  std::vector<Real> a, b, c;
  Gemm product;

  Case(Op op_a, Op op_b, std::size_t m, std::size_t n, std::size_t k, std::size_t gap, std::uint64_t seed) {
    Rng rng(seed);
    const auto fill = [&](std::vector<Real>& matrix, std::size_t rows, std::size_t columns) {
      matrix.assign(rows * (columns + gap) + 1, std::numeric_limits<Real>::quiet_NaN());
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column)
          matrix[row * (columns + gap) + column] = static_cast<Real>(2 * rng.uniform() - 1);
      return columns + gap;
    };
    const std::size_t a_stride = op_a == Op::none ? fill(a, m, k) : fill(a, k, m);
    const std::size_t b_stride = op_b == Op::none ? fill(b, k, n) : fill(b, n, k);
    const std::size_t c_stride = fill(c, m, n);
    product = {.op_a = op_a, .op_b = op_b, .m = m, .n = n, .k = k, .a = a.data(), .a_stride = a_stride, .b = b.data(),
               .b_stride = b_stride, .c = nullptr, .c_stride = c_stride};
  }

  std::vector<Real> run(void (*multiply)(const Gemm&)) const {
    std::vector<Real> result = c;
    Gemm call = product;
    call.c = result.data();
    multiply(call);
    return result;
  }

  // The definition, in double.
  std::vector<Real> expected() const {
    std::vector<Real> result = c;
    const Gemm& g = product;
    for (std::size_t i = 0; i < g.m; ++i)
      for (std::size_t j = 0; j < g.n; ++j) {
        double sum = 0;
        for (std::size_t p = 0; p < g.k; ++p)
          sum += static_cast<double>(g.op_a == Op::none ? a[i * g.a_stride + p] : a[p * g.a_stride + i]) *
                 static_cast<double>(g.op_b == Op::none ? b[p * g.b_stride + j] : b[j * g.b_stride + p]);
        Real& target = result[i * g.c_stride + j];
        target = static_cast<Real>(static_cast<double>(g.alpha) * sum +
                                   (g.beta == 0 ? 0 : static_cast<double>(g.beta) * static_cast<double>(target)));
      }
    return result;
  }
};

// The largest difference; two NaNs are no difference.
double distance(const std::vector<Real>& x, const std::vector<Real>& y) {
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) && std::isnan(y[i])) continue;
    const double difference = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
  }
  return worst;
}

struct Threads {
  std::size_t before = thread_count();
  ~Threads() { set_thread_count(before); }
};

}  // namespace

// Some BLAS leave C as it was for k = 0 and beta = 0; and 0 · NaN is not 0.
TEST_CASE(
    "Small products of every shape and transposition are right, read no more than they should, and write C alone") {
  const std::array<std::size_t, 8> extents{0, 1, 2, 7, 8, 9, 17, 33};
  double worst = 0;
  for (const Op op_a : both)
    for (const Op op_b : both)
      for (const std::size_t m : extents)
        for (const std::size_t n : extents)
          for (const std::size_t k : extents)
            for (const std::size_t gap : {0, 3}) {
              Case test(op_a, op_b, m, n, k, gap, 1);
              std::ranges::fill(test.c, std::numeric_limits<Real>::quiet_NaN());
              const std::vector<Real> expected = test.expected();
              worst = std::max({worst, distance(test.run(gemm), expected), distance(test.run(gemm_plain), expected)});
            }
  CHECK(worst <= 10 * tolerance);
}

TEST_CASE("A product of nothing is zero") {
  const Case test(Op::none, Op::none, 2, 3, 0, 0, 1);
  const std::vector<Real> result = test.run(gemm);
  for (std::size_t i = 0; i < 6; ++i) CHECK(result[i] == 0);
}

TEST_CASE("Alpha scales the product and beta what was there before") {
  for (const Op op_a : both)
    for (const Op op_b : both)
      for (const Real alpha : {Real{0}, Real{1}, Real{-2}})
        for (const Real beta : {Real{0}, Real{1}, Real{3}})
          for (const std::size_t k : {0, 5}) {
            Case test(op_a, op_b, 6, 7, k, 2, 2);
            test.product.alpha = alpha;
            test.product.beta = beta;
            CHECK(distance(test.run(gemm), test.expected()) <= 10 * tolerance);
            CHECK(distance(test.run(gemm_plain), test.expected()) <= 10 * tolerance);
          }
}

TEST_CASE("A product that is cut over threads is right for every number of threads, and the same each time") {
  const Threads restore;
  for (const auto& [m, n, k] : {std::array<std::size_t, 3>{150, 97, 65}, {1, 3000, 200}, {3000, 1, 200}, {5, 700, 131}})
    for (const Op op_a : both)
      for (const Op op_b : both) {
        Case test(op_a, op_b, m, n, k, 3, 3);
        test.product.beta = Real{0.5};
        const std::vector<Real> expected = test.expected();
        for (std::size_t threads : {1, 2, 3}) {
          set_thread_count(threads);
          const std::vector<Real> result = test.run(gemm);
          CHECK(distance(result, expected) <= 100 * tolerance);
          CHECK(distance(result, test.run(gemm)) == 0);
        }
      }
}

TEST_CASE("A product inside a parallel loop is the same however much work the loop has") {
  const Threads restore;
  set_thread_count(3);
  const Case test(Op::none, Op::transpose, 90, 70, 80, 0, 4);
  std::vector<std::vector<Real>> results(4);
  for (std::size_t work : {std::size_t{0}, std::size_t{1} << 30})
    parallel_for(2, work, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) results[(work > 0 ? 2 : 0) + i] = test.run(gemm);
    });
  for (const auto& result : results) CHECK(distance(result, results[0]) == 0);
}

// OpenBLAS has mixed up the buffers of callers on different threads.
TEST_CASE("Eight threads may multiply at once") {
  const Case test(Op::none, Op::none, 64, 64, 64, 0, 5);
  const std::vector<Real> expected = test.expected();
  std::vector<double> worst(8, 0);
  std::vector<std::thread> threads;
  for (double& mine : worst)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) mine = std::max(mine, distance(test.run(gemm), expected));
    });
  for (std::thread& thread : threads) thread.join();
  for (double error : worst) CHECK(error <= 10 * tolerance);
}

TEST_CASE("A leading dimension shorter than a row is refused") {
  Case test(Op::none, Op::none, 2, 3, 4, 0, 6);
  const auto with = [&](auto change) {
    Gemm call = test.product;
    call.c = test.c.data();
    change(call);
    return call;
  };
  CHECK_THROWS_WITH_AS(gemm(with([](Gemm& g) { g.a_stride = 3; })),
                       "gemm: rows of a are 3 apart and 4 long; a leading dimension counts the whole row", ShapeError);
  CHECK_THROWS_WITH_AS(gemm(with([](Gemm& g) { g.b_stride = 2; })),
                       "gemm: rows of b are 2 apart and 3 long; a leading dimension counts the whole row", ShapeError);
  CHECK_THROWS_WITH_AS(gemm(with([](Gemm& g) { g.c_stride = 1; })),
                       "gemm: rows of c are 1 apart and 3 long; a leading dimension counts the whole row", ShapeError);
}

TEST_CASE("An extent that BLAS cannot count is refused") {
  Gemm call = Case(Op::none, Op::none, 1, 1, 1, 0, 7).product;
  call.m = std::size_t{1} << 31;
  CHECK_THROWS_WITH_AS(gemm(call), "gemm: an extent of 2147483648 is more than BLAS can count (2147483647)",
                       ShapeError);
}
