#pragma once

#include <span>
#include <vector>

#include "autograd/tensor.h"

namespace gradus {

// The inputs one behind the other along one axis.  (…, n₁, …), (…, n₂, …), … → (…, n₁ + n₂ + …, …)
// Errors: no inputs; no such axis; another axis differs.
Tensor concat(std::span<const Tensor> inputs, std::size_t axis);
inline Tensor concat(std::initializer_list<Tensor> inputs, std::size_t axis) {
  return concat(std::span(inputs.begin(), inputs.size()), axis);
}

}  // namespace gradus
