#pragma once

#include "autograd/tensor.h"

namespace gradus {

// Root mean square normalisation over the last axis.  x (…, n), gain (n) → (…, n)
// Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019), equation 4, with ε inside the root.
// Errors: x is a scalar; gain is not (n); ε is negative or not a number.
Tensor rms_norm(const Tensor& x, const Tensor& gain, double epsilon);

// The same from primitive operations: slower, and easy to believe.
Tensor rms_norm_composed(const Tensor& x, const Tensor& gain, double epsilon);

}  // namespace gradus
