#include "autograd/ops/yarn.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "autograd/error.h"

namespace gradus {

void RopeScaling::validate() const {
  if (kind == RopeScalingKind::none) return;
  using enum RopeScalingKind;
  const char* const name = kind == linear ? "linear" : kind == llama3 ? "llama3" : "yarn";
  expect(factor > 0 && std::isfinite(factor), "{}: factor must be above 0, not {}", name, factor);
  if (kind == RopeScalingKind::linear) return;
  expect(original_context > 0, "{}: original_context must be 1 or more, not 0; it is the context of the training", name);
  expect(beta_slow > 0 && beta_fast >= beta_slow && std::isfinite(beta_fast),
         "{}: beta_fast {} must be at least beta_slow {}, and both above 0", name, beta_fast, beta_slow);
  expect(kind == RopeScalingKind::yarn || beta_fast > beta_slow,
         "llama3: beta_fast and beta_slow are both {}; the ramp between them needs a length", beta_fast);
  expect(kind == RopeScalingKind::llama3 || (attention_factor > 0 && std::isfinite(attention_factor)),
         "yarn: attention_factor must be above 0, not {}", attention_factor);
}

// Point i makes L θ^(−2i/D) / 2π turns over the L positions. The point that makes this many, as a real number:
//   i = D ln(L / (2π turns)) / (2 ln θ)
static double point_with(double turns, std::size_t head_dim, double theta, const RopeScaling& scaling) {
  const double length = static_cast<double>(scaling.original_context);
  return static_cast<double>(head_dim) * std::log(length / (2 * std::numbers::pi * turns)) / (2 * std::log(theta));
}

// The ramp is 0 where a point is left alone and 1 where it is slowed down in full:
//   speed(i) = θ^(−2i/D) (1 − ramp(i) + ramp(i) / factor)
static void slow_down(double& speed, double ramp, double factor) {
  ramp = std::clamp(ramp, 0.0, 1.0);
  speed *= 1 - ramp + ramp / factor;
}

// From the point of beta_fast turns to the point of beta_slow turns.
static void scale_yarn(std::vector<double>& speeds, std::size_t head_dim, double theta, const RopeScaling& scaling) {
  expect(theta > 1, "yarn: theta must be above 1, not {}; otherwise no point turns slower than the first", theta);
  const double last = static_cast<double>(speeds.size() - 1);
  const double low = std::max(std::floor(point_with(scaling.beta_fast, head_dim, theta, scaling)), 0.0);
  const double high = std::min(std::ceil(point_with(scaling.beta_slow, head_dim, theta, scaling)), last);
  for (std::size_t i = 0; i < speeds.size(); ++i)  // where both ends fall on one point, the ramp is a step behind it
    slow_down(speeds[i], (static_cast<double>(i) - low) / std::max(high - low, 0.001), scaling.factor);
}

// From beta_fast turns to beta_slow turns.
static void scale_llama3(std::vector<double>& speeds, const RopeScaling& scaling) {
  for (double& speed : speeds) {
    const double turns = static_cast<double>(scaling.original_context) * speed / (2 * std::numbers::pi);
    slow_down(speed, (scaling.beta_fast - turns) / (scaling.beta_fast - scaling.beta_slow), scaling.factor);
  }
}

std::vector<double> rope_speeds(std::size_t head_dim, double theta, const RopeScaling& scaling, std::size_t context) {
  expect(head_dim > 0 && head_dim % 2 == 0,
         "rope: head_dim must be even and above 0, not {}; its numbers are turned in pairs", head_dim);
  expect(theta > 0, "rope: theta must be above 0, not {}", theta);
  std::vector<double> speeds(head_dim / 2);
  for (std::size_t i = 0; i < speeds.size(); ++i)
    speeds[i] = std::pow(theta, -2 * static_cast<double>(i) / static_cast<double>(head_dim));

  scaling.validate();
  if (scaling.kind == RopeScalingKind::linear)
    for (double& speed : speeds) slow_down(speed, 1, scaling.factor);
  else if (scaling.kind == RopeScalingKind::llama3)
    scale_llama3(speeds, scaling);
  else if (scaling.kind == RopeScalingKind::yarn && context > scaling.original_context)
    scale_yarn(speeds, head_dim, theta, scaling);
  return speeds;
}

}  // namespace gradus
