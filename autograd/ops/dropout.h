#pragma once

#include "autograd/random.h"
#include "autograd/tensor.h"

namespace gradus {

// Each value is zero with probability p and x / (1 − p) otherwise, so the mean stays.  any shape → the same
// Srivastava et al., "Dropout" (2014), in its inverted form. Which values fall depends on the generator alone, not on
// the number of threads. p = 0 returns x itself.
// Errors: p is outside [0, 1).
Tensor dropout(const Tensor& x, double p, Rng& rng);

}  // namespace gradus
