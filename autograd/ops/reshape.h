#pragma once

#include "autograd/tensor.h"

namespace gradus {

// A copy of the same numbers in the same order under another shape.
// Errors: the shapes have different numbers of elements.
Tensor reshape(const Tensor& x, const Shape& shape);

}  // namespace gradus
