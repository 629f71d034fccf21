#pragma once

#include "autograd/tensor.h"

namespace gradus {

// Every head `times` times in a row: with two heads and times = 2 the result's heads are 0, 0, 1, 1.
// x (B, T, H, D) → (B, T, H · times, D)
// Errors: x has not four axes; times is 0.
Tensor repeat_heads(const Tensor& x, std::size_t times);

}  // namespace gradus
