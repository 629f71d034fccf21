#pragma once

#include <span>

#include "autograd/tensor.h"

namespace gradus {

// Where mask is 1 the result is `value`, elsewhere x.  x (…, R, C), mask R·C numbers, repeated over the leading axes, or
// as many as x has values.
// Errors: the mask has another size, or a number that is neither 0 nor 1.
Tensor masked_fill(const Tensor& x, std::span<const int> mask, double value);

}  // namespace gradus
