// The training loop: windows of text in, smaller losses out.
//
//   loss = decoder.loss(window)      how surprised it is by the next tokens
//   loss.backward()                  which way each weight would make it less so
//   clip, step, clear                a step that way, and the gradients are forgotten
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>

#include "nn/decoder.h"
#include "optim/metrics.h"
#include "optim/data.h"

namespace gradus::optim {

struct TrainerOptions {
  std::size_t steps = 2000;
  std::size_t batch = 12;          // windows in a step
  std::size_t eval_every = 0;      // steps between validations; 0: an eighth of the steps
  double rate = 1e-3;              // the peak, reached after warmup_steps; a cosine takes it down to a tenth
  std::size_t warmup_steps = 100;  // at most a tenth of the steps
  double weight_decay = 0.1;       // of matrices; gains do not decay
  double beta2 = 0.95;
  double clip = 1;                 // largest norm of all gradients together; 0: off
  std::uint64_t seed = 1337;       // of dropout

  // Errors: a setting that makes no sense, by its name.
  void validate() const;
};

// A loss or a gradient that is no number: the weights are as they were before the step.
struct TrainingError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The mean loss over all validation windows, in nats per token. Draws no random numbers and records nothing.
double validation_loss(const nn::Decoder& decoder, const Data& data, std::size_t batch);

// Trains for options.steps steps and calls `observe` after each; validates every eval_every steps and after the last.
// Returns the last step's metrics.
// Errors (TrainingError): a loss or a gradient that is not finite, saying the step and what to check.
Metrics train(nn::Decoder& decoder, Data& data, const TrainerOptions& options,
              const std::function<void(const Metrics&)>& observe = {});

}  // namespace gradus::optim
