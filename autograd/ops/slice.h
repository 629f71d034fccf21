#pragma once

#include "autograd/tensor.h"

namespace gradus {

// A copy of the entries begin … end − 1 along one axis.  (…, n, …) → (…, end − begin, …)
// Errors: no such axis; begin > end; end > n.
Tensor slice(const Tensor& x, std::size_t axis, std::size_t begin, std::size_t end);

}  // namespace gradus
