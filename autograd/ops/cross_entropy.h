#pragma once

#include <span>

#include "autograd/tensor.h"

namespace gradus {

// A target that does not count.
inline constexpr int ignore_index = -100;

enum class Reduction { mean, sum, none };

// The surprise of each target under softmax(logits), −ln pₜ, in nats.
// logits (…, V) with N rows, targets N ids → mean or sum over the counted targets (), or none: (N), 0 where ignored.
// With nothing counted the loss is 0 and so is every gradient.
// Errors: the number of targets is not N; a target that is neither `ignored` nor in 0 … V − 1.
Tensor cross_entropy(const Tensor& logits, std::span<const int> targets, Reduction reduction = Reduction::mean,
                     int ignored = ignore_index);

// The same from primitive operations.
Tensor cross_entropy_composed(const Tensor& logits, std::span<const int> targets,
                              Reduction reduction = Reduction::mean, int ignored = ignore_index);

}  // namespace gradus
