#include "optim/adamw.h"

#include <cmath>
#include <unordered_set>

#include "autograd/error.h"
#include "autograd/parallel.h"

namespace gradus::optim {

std::vector<ParameterGroup> decay_matrices(std::span<const Tensor> parameters, double weight_decay) {
  ParameterGroup matrices{{}, weight_decay}, vectors{{}, 0};
  for (const Tensor& parameter : parameters)
    (parameter.rank() >= 2 ? matrices : vectors).parameters.push_back(parameter);
  return {matrices, vectors};
}

AdamW::AdamW(const std::vector<ParameterGroup>& groups, const AdamWOptions& options) : options_(options) {
  for (double beta : {options.beta1, options.beta2})
    expect(beta >= 0 && beta < 1, "adamw: beta {} is not in [0, 1)", beta);
  expect(static_cast<Real>(options.epsilon) > 0 && std::isfinite(options.epsilon),
         "adamw: epsilon {} must be above 0, or a gradient of 0 would divide 0 by 0", options.epsilon);
  std::unordered_set<const Node*> seen;
  for (const ParameterGroup& group : groups) {
    expect(group.weight_decay >= 0 && std::isfinite(group.weight_decay), "adamw: weight decay {} must be 0 or more",
           group.weight_decay);
    for (const Tensor& parameter : group.parameters) {
      const Shape& shape = parameter.shape();
      expect(seen.insert(&parameter.node()).second,
             "adamw: a parameter of shape {} appears twice and would be stepped twice; name a shared one once", shape);
      states_.push_back({parameter, Tensor::zeros(shape), Tensor::zeros(shape), group.weight_decay});
    }
  }
}

// With the gradient g of θ, in step t = 1, 2, …
//   m ← m + (1 − β₁)(g − m)            the average gradient
//   v ← v + (1 − β₂)(g² − v)           the average square
//   θ ← θ − rate λ θ − rate · m̂ / (√v̂ + ε),   m̂ = m / (1 − β₁ᵗ),   v̂ = v / (1 − β₂ᵗ)
// The averages begin at 0 and are too small at first; m̂ and v̂ are divided by the weight that real gradients have
// in them so far. ε joins after that division. The decay λ acts on θ as it was before the step; as a penalty it is
// part of the gradient, g + λ θ, instead.
void AdamW::step(double rate) {
  expect(rate >= 0 && std::isfinite(rate), "adamw: rate {} must be 0 or more", rate);
  ++steps_;
  const double t = static_cast<double>(steps_);
  const Real pull1 = static_cast<Real>(1 - options_.beta1), pull2 = static_cast<Real>(1 - options_.beta2);
  const Real scale1 = static_cast<Real>(rate / (1 - std::pow(options_.beta1, t)));
  const Real scale2 = static_cast<Real>(1 / std::sqrt(1 - std::pow(options_.beta2, t)));
  const Real epsilon = static_cast<Real>(options_.epsilon);

  for (State& state : states_) {
    if (!state.parameter.has_grad()) continue;
    const bool decoupled = options_.decay == Decay::decoupled;
    const Real decay = decoupled ? static_cast<Real>(rate * state.weight_decay) : Real{0};
    const Real penalty = decoupled ? Real{0} : static_cast<Real>(state.weight_decay);
    Real* const theta = state.parameter.mutable_values().data();
    Real* const m = state.first_moment.mutable_values().data();
    Real* const v = state.second_moment.mutable_values().data();
    const Real* const g = state.parameter.grad().data();
    parallel_for(state.parameter.size(), 16, [&](std::size_t begin, std::size_t end) {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) {
        const Real slope = g[i] + penalty * theta[i];
        m[i] += pull1 * (slope - m[i]);
        v[i] += pull2 * (slope * slope - v[i]);
        theta[i] -= decay * theta[i] + scale1 * m[i] / (std::sqrt(v[i]) * scale2 + epsilon);
      }
    });
  }
}

}  // namespace gradus::optim
