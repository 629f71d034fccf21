#include "autograd/ops/linear.h"

#include <algorithm>
#include <vector>

#include "autograd/error.h"
#include "autograd/gemm.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

static void linear_backward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias);

// y = x Wᵀ + bias, with the rows of x as one matrix: (rows, in) · (in, out) → (rows, out).
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  expect(weight.rank() == 2, "linear: weight {} must have two axes, (out, in)", weight.shape());
  const std::size_t n_out = weight.extent(0), n_in = weight.extent(1);
  expect(x.rank() >= 1 && x.shape().back() == n_in,
         "linear: the last axis of x {} must match the last axis of weight {}, (out, in); is the weight transposed?",
         x.shape(), weight.shape());
  expect(!bias.defined() || bias.shape() == Shape{n_out},
         "linear: bias {} must match the first axis of weight {}: ({})",
         bias.defined() ? bias.shape() : Shape{}, weight.shape(), n_out);

  const std::size_t rows = x.shape().rows();
  Tensor y(x.shape().with_back(n_out));
  Real* const Y = y.mutable_values().data();
  if (bias.defined())
    parallel_for(rows, n_out, [&, from = bias.values()](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) std::ranges::copy(from, Y + row * n_out);
    });
  gemm({.op_b = Op::transpose, .m = rows, .n = n_out, .k = n_in, .a = x.values().data(), .a_stride = n_in,
        .b = weight.values().data(), .b_stride = n_in, .c = Y, .c_stride = n_out,
        .beta = bias.defined() ? Real{1} : Real{0}});

  std::vector<Tensor> inputs{x, weight};
  if (bias.defined()) inputs.push_back(bias);
  return record(y, "linear", inputs,
                [x, weight, bias](const Tensor& out) { linear_backward(out, x, weight, bias); });
}

// For every row yᵢ = Σⱼ Wᵢⱼ xⱼ + biasᵢ, and so
//   dx    += dy W
//   dW    += Σ_rows dyᵢ xⱼ = dyᵀ x
//   dbias += Σ_rows dy
static void linear_backward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const std::size_t rows = x.shape().rows(), n_out = weight.extent(0), n_in = weight.extent(1);
  const Real* const DY = y.grad().data();

  if (x.requires_grad()) {
    const auto [dx, beta] = x.grad_target();
    gemm({.m = rows, .n = n_in, .k = n_out, .a = DY, .a_stride = n_out, .b = weight.values().data(), .b_stride = n_in,
          .c = dx, .c_stride = n_in, .beta = beta});
  }

  if (weight.requires_grad()) {
    const auto [dweight, beta] = weight.grad_target();
    gemm({.op_a = Op::transpose, .m = n_out, .n = n_in, .k = rows, .a = DY, .a_stride = n_out, .b = x.values().data(),
          .b_stride = n_in, .c = dweight, .c_stride = n_in, .beta = beta});
  }

  if (bias.defined() && bias.requires_grad()) {
    const std::size_t pieces = thread_count();
    std::vector<double> partial(pieces * n_out);
    parallel_pieces(rows, n_out, [&](std::size_t piece, std::size_t begin, std::size_t end) {
      double* const sum = partial.data() + piece * n_out;
      for (std::size_t row = begin; row < end; ++row)
        for (std::size_t i = 0; i < n_out; ++i) sum[i] += static_cast<double>(DY[row * n_out + i]);
    });
    Real* const dbias = bias.mutable_grad().data();
    for (std::size_t piece = 0; piece < pieces; ++piece)
      for (std::size_t i = 0; i < n_out; ++i) dbias[i] += static_cast<Real>(partial[piece * n_out + i]);
  }
}

}  // namespace gradus
