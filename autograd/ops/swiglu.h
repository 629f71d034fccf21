#pragma once

#include "autograd/tensor.h"

namespace gradus {

// y = silu(gate) ⊙ up: the gated product in the middle of a feed-forward layer.  two of the same shape → that shape
// Shazeer, "GLU Variants Improve Transformer" (2020), equation 6.
// Errors: the shapes differ.
Tensor swiglu(const Tensor& gate, const Tensor& up);

// The same from primitive operations.
Tensor swiglu_composed(const Tensor& gate, const Tensor& up);

}  // namespace gradus
