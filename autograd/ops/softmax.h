#pragma once

#include "autograd/tensor.h"

namespace gradus {

// Over the last axis: yᵢ = exp(xᵢ − m) / Σⱼ exp(xⱼ − m) with m = max x.  (…, n) → (…, n)
// A row of only −inf has nothing to choose from: it gives zeros and a zero gradient.
// Errors: x is a scalar.
Tensor softmax(const Tensor& x);

// yᵢ = xᵢ − m − ln Σⱼ exp(xⱼ − m).  (…, n) → (…, n)
// A row of only −inf stays −inf and has a zero gradient.
// Errors: x is a scalar.
Tensor log_softmax(const Tensor& x);

}  // namespace gradus
