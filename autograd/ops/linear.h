#pragma once

#include "autograd/tensor.h"

namespace gradus {

// y = x Wᵀ + bias for every row.  x (…, in), weight (out, in), bias (out) or undefined → (…, out)
// Errors: shapes that do not fit.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace gradus
