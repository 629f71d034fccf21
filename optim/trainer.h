// The training loop: rows of tokens in, smaller losses out.
//
//   loss = decoder.loss(rows)        how surprised it is by the next tokens
//   loss.backward()                  which way each weight would make it less so
//   clip, step, clear                a step that way, and the gradients are forgotten
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "nn/decoder.h"
#include "optim/adamw.h"
#include "optim/data.h"
#include "optim/metrics.h"
#include "optim/schedule.h"

namespace gradus::optim {

struct TrainerOptions {
  std::size_t steps = 2000;
  std::size_t batch = 12;          // rows that go through the decoder together
  std::size_t accumulate = 1;      // such batches in a step; the step is that of one batch of batch · accumulate rows
  std::size_t eval_every = 0;      // steps between validations; 0: an eighth of the steps
  ScheduleKind schedule = ScheduleKind::cosine;
  double rate = 1e-3;              // the peak, reached after warmup_steps; the schedule takes it down to a tenth
  std::size_t warmup_steps = 100;  // at most a tenth of the steps
  double weight_decay = 0.1;       // of matrices; gains do not decay
  double beta2 = 0.95;
  double clip = 1;                 // largest norm of all gradients together; 0: off
  std::size_t patience = 0;        // validations in a row without a new best that end the run; 0: none do
  bool skip_bad_steps = false;     // a loss or gradient that is no number: leave the step out instead of stopping
  std::uint64_t seed = 1337;       // of dropout

  std::size_t steps_between_validations() const;

  // Errors: a setting that makes no sense, by its name.
  void validate() const;

  // Every setting, under the name it has in a checkpoint.
  static void fields(auto& self, auto&& visit) {
    visit("steps", self.steps);
    visit("batch", self.batch);
    visit("accumulate", self.accumulate);
    visit("eval_every", self.eval_every);
    visit("schedule", self.schedule);
    visit("rate", self.rate);
    visit("warmup_steps", self.warmup_steps);
    visit("weight_decay", self.weight_decay);
    visit("beta2", self.beta2);
    visit("clip", self.clip);
    visit("patience", self.patience);
    visit("skip_bad_steps", self.skip_bad_steps);
    visit("seed", self.seed);
  }
};

// A loss or a gradient that is no number: the weights are as they were before the step.
struct TrainingError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The mean loss over all counted targets of the validation rows, in nats per token. Draws no random numbers and records
// nothing.
double validation_loss(const nn::Decoder& decoder, const Data& data, std::size_t batch);

// A run: the decoder, its optimizer and where both stand. What happens in a step depends on state() and the weights
// alone, so that a run which is saved and restored goes on as if nothing had happened.
class Trainer {
 public:
  // Both must outlive it. Errors: those of validate().
  Trainer(nn::Decoder& decoder, Data& data, const TrainerOptions& options);

  // One step, and a validation where one is due. Returns whether the step was taken: with skip_bad_steps, one with a
  // loss or gradient that is no number is left out, and problem() says why.
  // Errors (TrainingError): such a step without skip_bad_steps, or the tenth of them in a row.
  bool step();

  bool finished() const { return state_.step >= options_.steps || out_of_patience(); }
  bool out_of_patience() const { return options_.patience > 0 && state_.validations_without_best >= options_.patience; }
  const Metrics& metrics() const { return metrics_; }  // of the last step that was taken
  bool is_best() const { return is_best_; }            // the last step's validation loss is the lowest so far
  const std::string& problem() const { return problem_; }

  // What a checkpoint keeps besides the weights, the optimizer's moments and the data's state.
  struct State {
    std::uint64_t step = 0;
    std::uint64_t tokens = 0;
    double seconds = 0;
    double last_loss = 0;
    std::uint64_t skipped = 0;         // steps that were left out
    std::uint64_t skipped_in_row = 0;  // the last ones among them
    std::uint64_t validations_without_best = 0;
    std::optional<double> best_validation_loss = {};
    Rng::State dropout = {};
  };
  State state() const;
  void restore(const State& state);
  const TrainerOptions& options() const { return options_; }
  AdamW& optimizer() { return optimizer_; }
  const AdamW& optimizer() const { return optimizer_; }
  Data& data() { return data_; }
  const Data& data() const { return data_; }
  const nn::Decoder& decoder() const { return decoder_; }
  const std::vector<nn::Parameter>& weights() const { return named_; }

 private:
  void accumulate_gradients();
  bool reject(const std::string& found);
  void validate_if_due();

  nn::Decoder& decoder_;
  Data& data_;
  TrainerOptions options_;
  std::vector<nn::Parameter> named_;
  std::vector<Tensor> weights_;
  AdamW optimizer_;
  Schedule schedule_;
  Rng dropout_;
  State state_;
  Metrics metrics_;
  bool is_best_ = false;
  std::string problem_;
};

// Trains to the end and calls `observe` after each step that was taken. Returns the last step's metrics.
Metrics train(nn::Decoder& decoder, Data& data, const TrainerOptions& options,
              const std::function<void(const Metrics&)>& observe = {});

}  // namespace gradus::optim
