// The gradient check: is a hand-derived backward the derivative of its forward?
//
// For a function y = f(x₁, x₂, …) take a random cotangent c of y's shape and the number L = ⟨c, y⟩. Backward gives
// dL/dx all at once; a difference of four values of L gives it for one element at a time, knowing only the forward.
// The cotangent is random because a plain sum hides bugs: the sum of a softmax is 1, so its gradient is 0 whatever
// the backward does.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/random.h"
#include "autograd/tensor.h"

namespace gradus {

struct GradCheckOptions {
  // Each difference is over four points at most two steps away: its error is of order step⁴.
  double step = 1e-3;
  double tolerance = 1e-7;
  // An input whose gradient is zero everywhere is usually a mistake of the check, so it fails unless named here.
  std::vector<std::string> zero_gradients = {};
  std::uint64_t seed = 1;
};

struct GradCheckResult {
  // max |analytic − numeric| / max |numeric| over the elements of an input; the largest of all inputs.
  double error = 0;
  std::string failure;  // empty when the check passed
  bool passed() const { return failure.empty(); }
};

// Checks every element of every input: once with fresh gradients, once on top of gradients that are not zero (a
// backward that assigns instead of adding is caught), and once with each input frozen (it must get no gradient).
// `f` must be a pure function of the values of `inputs`; it is called several times for each element.
// The library's float flavour can only see errors above about 1e-3: use the double flavour.
GradCheckResult gradcheck(std::string_view op, const std::vector<NamedTensor>& inputs,
                          const std::function<Tensor()>& f, const GradCheckOptions& options = {});

// Values for a check: uniform in [low, high).
Tensor random_uniform(const Shape& shape, Rng& rng, double low = -1, double high = 1);
// The same, but no value is closer to 0 than `margin`: for functions with a kink at 0.
Tensor random_away_from_zero(const Shape& shape, Rng& rng, double margin = 0.1);

}  // namespace gradus
