#pragma once

#include "autograd/tensor.h"

namespace gradus {

// Over the last axis: y = gain ⊙ (x − mean) / √(variance + ε) + bias, with the biased variance.
// x (…, n), gain (n), bias (n) or undefined → (…, n).  Ba, Kiros, Hinton, "Layer Normalization" (2016), equation 4.
// Errors: shapes that do not fit; ε negative or not a number.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon);

// The same from primitive operations.
Tensor layer_norm_composed(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon);

}  // namespace gradus
