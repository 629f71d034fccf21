#include "autograd/ops/matmul.h"

#include <algorithm>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

static void matmul_backward(const Tensor& y, const Tensor& a, const Tensor& b, Op op_a, Op op_b, std::size_t batch);

namespace {

// A batch of matrices as a product reads them: (rows, columns) is the shape after `op`.
struct Factor {
  const Real* data;
  std::size_t rows, columns;
  Op op;
};

}  // namespace

static Factor transposed(const Factor& f) {
  return {f.data, f.columns, f.rows, f.op == Op::none ? Op::transpose : Op::none};
}

static Factor factor(const Tensor& x, Op op) {
  const std::size_t columns = x.shape().back(), rows = x.extent(x.rank() - 2);
  const Factor stored{x.values().data(), rows, columns, Op::none};
  return op == Op::none ? stored : transposed(stored);
}

// The matrices of a batch, one behind the other.
static std::size_t batch_of(const Shape& shape) {
  std::size_t batch = 1;
  for (std::size_t axis = 0; axis + 2 < shape.rank(); ++axis) batch *= shape[axis];
  return batch;
}

// C ← P Q + beta C for every matrix of the batch. With a matrix for each thread the batch is what is cut; a product
// inside runs on one thread. With fewer, each product is cut.
static void multiply(std::size_t batch, const Factor& p, const Factor& q, Real* c, Real beta) {
  const std::size_t m = p.rows, n = q.columns, k = p.columns;
  const auto products = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      gemm({.op_a = p.op, .op_b = q.op, .m = m, .n = n, .k = k,
            .a = p.data + i * m * k, .a_stride = p.op == Op::none ? k : m,
            .b = q.data + i * k * n, .b_stride = q.op == Op::none ? n : k,
            .c = c + i * m * n, .c_stride = n, .beta = beta});
  };
  constexpr std::size_t products_an_operation = 8;  // BLAS multiplies that much faster than a loop
  if (batch >= thread_count())
    parallel_for(batch, std::max<std::size_t>(1, m * n * k / products_an_operation), products);
  else
    products(0, batch);
}

// y = A B with A = op_a(a), B = op_b(b).
Tensor matmul(const Tensor& a, const Tensor& b, Op op_a, Op op_b) {
  expect(a.rank() >= 2 && b.rank() >= 2,
         "matmul: a {} and b {} need at least two axes; reshape a vector to a matrix of one row or column", a.shape(),
         b.shape());
  expect(std::equal(a.shape().begin(), a.shape().end() - 2, b.shape().begin(), b.shape().end() - 2),
         "matmul: the leading axes of a {} and b {} must be equal; a batch is not broadcast", a.shape(), b.shape());
  const Factor A = factor(a, op_a), B = factor(b, op_b);
  expect(A.columns == B.rows,
         "matmul: the inner extents of a {}{} and b {}{} must be equal: {} and {}; is a transpose missing?", a.shape(),
         op_a == Op::none ? "" : " transposed", b.shape(), op_b == Op::none ? "" : " transposed", A.columns, B.rows);

  Tensor y(a.shape().with(a.rank() - 2, A.rows).with_back(B.columns));
  const std::size_t batch = batch_of(y.shape());
  multiply(batch, A, B, y.mutable_values().data(), 0);
  return record(y, "matmul", {a, b}, [a, b, op_a, op_b, batch](const Tensor& out) {
    matmul_backward(out, a, b, op_a, op_b, batch);
  });
}

// The gradient of op(x) is P Q, so x itself, stored transposed, has the gradient (P Q)ᵀ = Qᵀ Pᵀ.
static void add_product(const Tensor& x, Op op, std::size_t batch, const Factor& p, const Factor& q) {
  if (!x.requires_grad()) return;
  const auto [dx, beta] = x.grad_target();
  if (op == Op::none)
    multiply(batch, p, q, dx, beta);
  else
    multiply(batch, transposed(q), transposed(p), dx, beta);
}

// yᵢⱼ = Σₖ Aᵢₖ Bₖⱼ, so Aᵢₖ meets every dyᵢⱼ with the slope Bₖⱼ, and Bₖⱼ every dyᵢⱼ with the slope Aᵢₖ:
//   dA = dy Bᵀ
//   dB = Aᵀ dy
static void matmul_backward(const Tensor& y, const Tensor& a, const Tensor& b, Op op_a, Op op_b, std::size_t batch) {
  const Factor A = factor(a, op_a), B = factor(b, op_b);
  const Factor dy{y.grad().data(), A.rows, B.columns, Op::none};
  add_product(a, op_a, batch, dy, transposed(B));
  add_product(b, op_b, batch, transposed(A), dy);
}

}  // namespace gradus
