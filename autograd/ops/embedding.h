#pragma once

#include <span>

#include "autograd/tensor.h"

namespace gradus {

// Row ids[i] of the table for every token.  table (V, C), ids N numbers → (N, C)
// Errors: the table has not two axes; an id outside 0 … V − 1, naming it, its place and V.
Tensor embedding(const Tensor& table, std::span<const int> ids);

}  // namespace gradus
