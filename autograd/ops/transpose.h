#pragma once

#include "autograd/tensor.h"

namespace gradus {

// A copy with two axes exchanged.  (…, m, …, n, …) → (…, n, …, m, …)
// Errors: an axis that does not exist.
Tensor transpose(const Tensor& x, std::size_t axis1, std::size_t axis2);

}  // namespace gradus
