#include "autograd/ops/matmul.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/error.h"
#include "autograd/gradcheck.h"

using namespace gradus;

static constexpr double tolerance = sizeof(Real) == 8 ? 1e-13 : 1e-5;

// Element (i, j) of a product of two matrices that start at a and b, from its definition.
static double element(const Real* a, const Real* b, Op op_a, Op op_b, std::size_t m, std::size_t k, std::size_t n,
                      std::size_t i, std::size_t j) {
  double sum = 0;
  for (std::size_t p = 0; p < k; ++p)
    sum += static_cast<double>(op_a == Op::none ? a[i * k + p] : a[p * m + i]) *
           static_cast<double>(op_b == Op::none ? b[p * n + j] : b[j * k + p]);
  return sum;
}

TEST_CASE("matmul is the sum over the inner axis, for every transpose and every matrix of a batch") {
  Rng rng(1);
  const std::size_t m = 3, k = 5, n = 4, batch = 6;
  for (Op op_a : {Op::none, Op::transpose})
    for (Op op_b : {Op::none, Op::transpose}) {
      const Tensor a = random_uniform(op_a == Op::none ? Shape{2, 3, m, k} : Shape{2, 3, k, m}, rng);
      const Tensor b = random_uniform(op_b == Op::none ? Shape{2, 3, k, n} : Shape{2, 3, n, k}, rng);
      const Tensor y = matmul(a, b, op_a, op_b);
      CHECK(y.shape() == Shape{2, 3, m, n});
      for (std::size_t item = 0; item < batch; ++item)
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < n; ++j)
            CHECK(std::abs(static_cast<double>(y.values()[(item * m + i) * n + j]) -
                           element(a.values().data() + item * m * k, b.values().data() + item * k * n, op_a, op_b, m, k,
                                   n, i, j)) < tolerance);
    }
}

TEST_CASE("matmul over a batch is matmul of each matrix, however many matrices there are") {
  Rng rng(2);
  for (std::size_t batch : {1, 2, 3, 40}) {
    const Tensor a = random_uniform({batch, 40, 30}, rng), b = random_uniform({batch, 30, 50}, rng);
    const Tensor y = matmul(a, b);
    for (std::size_t item = 0; item < batch; ++item) {
      const Tensor one = matmul(Tensor({40, 30}, a.values().subspan(item * 1200, 1200)),
                                Tensor({30, 50}, b.values().subspan(item * 1500, 1500)));
      for (std::size_t i = 0; i < 2000; ++i)
        CHECK(std::abs(static_cast<double>(y.values()[item * 2000 + i] - one.values()[i])) < tolerance);
    }
  }
}

TEST_CASE("matmul of a matrix with itself receives both gradients") {
  Tensor x({1, 1}, {3});
  x.set_requires_grad();
  matmul(x, x).backward();
  CHECK(x.grad()[0] == 6);
}

TEST_CASE("matmul over an empty inner axis is zero, and an empty batch is empty") {
  const Tensor y = matmul(Tensor({2, 0}), Tensor({0, 3}));
  for (Real value : y.values()) CHECK(value == 0);
  CHECK(matmul(Tensor({0, 2, 3}), Tensor({0, 3, 4})).shape() == Shape{0, 2, 4});
}

TEST_CASE("matmul refuses shapes that do not fit, and says both") {
  CHECK_THROWS_WITH_AS(matmul(Tensor({3}), Tensor({3, 2})),
                       "matmul: a (3) and b (3, 2) need at least two axes; reshape a vector to a matrix of one row or "
                       "column",
                       ShapeError);
  CHECK_THROWS_WITH_AS(matmul(Tensor({2, 4, 3}), Tensor({3, 2})),
                       "matmul: the leading axes of a (2, 4, 3) and b (3, 2) must be equal; a batch is not broadcast",
                       ShapeError);
  CHECK_THROWS_WITH_AS(matmul(Tensor({4, 3}), Tensor({4, 2})),
                       "matmul: the inner extents of a (4, 3) and b (4, 2) must be equal: 3 and 4; is a transpose "
                       "missing?",
                       ShapeError);
  CHECK_THROWS_WITH_AS(matmul(Tensor({4, 3}), Tensor({3, 2}), Op::none, Op::transpose),
                       "matmul: the inner extents of a (4, 3) and b (3, 2) transposed must be equal: 3 and 2; is a "
                       "transpose missing?",
                       ShapeError);
}
