#include "autograd/ops/yarn.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "autograd/error.h"

namespace gradus {

void RopeScaling::validate() const {
  if (kind == RopeScalingKind::none) return;
  expect(factor > 0 && std::isfinite(factor), "yarn: factor must be above 0, not {}", factor);
  expect(original_context > 0, "yarn: original_context must be 1 or more, not 0; it is the context of the training");
  expect(beta_slow > 0 && beta_fast >= beta_slow && std::isfinite(beta_fast),
         "yarn: beta_fast {} must be at least beta_slow {}, and both above 0", beta_fast, beta_slow);
  expect(attention_factor > 0 && std::isfinite(attention_factor), "yarn: attention_factor must be above 0, not {}",
         attention_factor);
}

// Point i makes L θ^(−2i/D) / 2π turns over the L positions. The point that makes this many, as a real number:
//   i = D ln(L / (2π turns)) / (2 ln θ)
static double point_with(double turns, std::size_t head_dim, double theta, const RopeScaling& scaling) {
  const double length = static_cast<double>(scaling.original_context);
  return static_cast<double>(head_dim) * std::log(length / (2 * std::numbers::pi * turns)) / (2 * std::log(theta));
}

//   speed(i) = θ^(−2i/D) (1 − ramp(i) + ramp(i) / factor)
// with a ramp that is 0 up to the point of beta_fast turns and 1 from the point of beta_slow turns on.
std::vector<double> rope_speeds(std::size_t head_dim, double theta, const RopeScaling& scaling, std::size_t context) {
  expect(head_dim > 0 && head_dim % 2 == 0,
         "rope: head_dim must be even and above 0, not {}; its numbers are turned in pairs", head_dim);
  expect(theta > 0, "rope: theta must be above 0, not {}", theta);
  std::vector<double> speeds(head_dim / 2);
  for (std::size_t i = 0; i < speeds.size(); ++i)
    speeds[i] = std::pow(theta, -2 * static_cast<double>(i) / static_cast<double>(head_dim));

  scaling.validate();
  if (scaling.kind == RopeScalingKind::none || context <= scaling.original_context) return speeds;
  expect(theta > 1, "yarn: theta must be above 1, not {}; otherwise no point turns slower than the first", theta);
  const double last = static_cast<double>(speeds.size() - 1);
  const double low = std::max(std::floor(point_with(scaling.beta_fast, head_dim, theta, scaling)), 0.0);
  const double high = std::min(std::ceil(point_with(scaling.beta_slow, head_dim, theta, scaling)), last);
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    // Where both ends fall on one point, the ramp is a step behind it.
    const double ramp = std::clamp((static_cast<double>(i) - low) / std::max(high - low, 0.001), 0.0, 1.0);
    speeds[i] *= 1 - ramp + ramp / scaling.factor;
  }
  return speeds;
}

}  // namespace gradus
