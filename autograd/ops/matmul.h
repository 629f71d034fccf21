#pragma once

#include "autograd/gemm.h"
#include "autograd/tensor.h"

namespace gradus {

// y = op_a(a) · op_b(b), where op is the identity or the transpose of the last two axes.
// (M, K) · (K, N) → (M, N), and for every leading index of a batch (…, M, K) · (…, K, N) → (…, M, N).
// Errors: fewer than two axes, leading axes that differ, inner extents that differ.
Tensor matmul(const Tensor& a, const Tensor& b, Op op_a = Op::none, Op op_b = Op::none);

}  // namespace gradus
