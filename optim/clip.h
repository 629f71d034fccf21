#pragma once

#include <span>

#include "autograd/tensor.h"

namespace gradus::optim {

// The length of all gradients taken together as one vector: the root of the sum of all their squares. Summed in
// double, where no float can overflow it. Tensors without a gradient count as zeros.
double gradient_norm(std::span<const Tensor> parameters);

// Shortens the gradients, together, to a norm of at most `max_norm`, and returns the norm they had before. One bad
// batch then moves the weights no further than any other. Name each tensor once; a `max_norm` of 0 switches it off.
// A norm that is not finite is returned and the gradients stay as they are: no factor can repair them, so whoever
// called must not take the step.
// Pascanu, Mikolov, Bengio, "On the difficulty of training recurrent neural networks" (2013), algorithm 1.
// Errors: a max_norm that is negative or not a number.
double clip_grad_norm(std::span<const Tensor> parameters, double max_norm);

}  // namespace gradus::optim
