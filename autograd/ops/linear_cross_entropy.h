#pragma once

#include <span>

#include "autograd/ops/cross_entropy.h"
#include "autograd/tensor.h"

namespace gradus {

// cross_entropy(linear(x, weight), targets) without ever holding all logits: they are made for a few rows at a time,
// and made again in backward.  x (…, C) with N rows, weight (V, C), targets N ids → (), mean or sum over the counted
// Errors: as cross_entropy; Reduction::none.
Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, std::span<const int> targets,
                            Reduction reduction = Reduction::mean, int ignored = ignore_index);

}  // namespace gradus
