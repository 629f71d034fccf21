// AdamW: steps of about equal size for every number, and decay that does not pass through the gradient's statistics.
//
// Kingma and Ba, "Adam: A method for stochastic optimization" (2015), algorithm 1, with the decoupled decay of
// Loshchilov and Hutter, "Decoupled weight decay regularization" (2019), algorithm 2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "autograd/tensor.h"

namespace gradus::optim {

// How a weight decay λ acts: by itself, θ ← θ − rate λ θ, or as a gradient λ θ of the penalty ½ λ ‖θ‖², as in Adam.
// Through Adam's averages the penalty is divided by √v̂ too, so that numbers with large gradients hardly decay.
enum class Decay { decoupled, penalty };

struct AdamWOptions {
  double beta1 = 0.9;
  // The squares are remembered for about 1/(1 − β₂) steps. The usual 0.999 would take a thousand steps to notice
  // that gradients have grown, which is long for language models and longer than a short run has.
  double beta2 = 0.95;
  double epsilon = 1e-8;
  Decay decay = Decay::decoupled;
};

struct ParameterGroup {
  std::vector<Tensor> parameters;
  double weight_decay = 0.1;
};

// Two groups: matrices decay, vectors do not. A gain or bias says where numbers lie, not how much of an input is used.
std::vector<ParameterGroup> decay_matrices(std::span<const Tensor> parameters, double weight_decay);

class AdamW {
 public:
  // Errors: a tensor that appears twice; β outside [0, 1); an ε that is not above 0; a negative decay.
  explicit AdamW(const std::vector<ParameterGroup>& groups, const AdamWOptions& options = {});

  // One step along the gradients. A parameter without a gradient is left alone, decay included.
  // Errors: a rate that is negative or not finite.
  void step(double rate);

  // What a checkpoint keeps: the number of steps taken, and each parameter's moments, in the order of the groups.
  // The moments are handles: write into them to restore.
  struct State {
    Tensor parameter;
    Tensor first_moment;   // moving average of the gradient
    Tensor second_moment;  // moving average of its square
    double weight_decay;
  };
  std::uint64_t steps() const { return steps_; }
  void set_steps(std::uint64_t steps) { steps_ = steps; }
  std::vector<State>& states() { return states_; }
  const std::vector<State>& states() const { return states_; }

 private:
  AdamWOptions options_;
  std::uint64_t steps_ = 0;
  std::vector<State> states_;
};

}  // namespace gradus::optim
