#include "optim/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "optim/clip.h"

namespace gradus::optim {

static constexpr std::uint64_t most_skipped_in_row = 10;

std::size_t TrainerOptions::steps_between_validations() const {
  return eval_every > 0 ? eval_every : std::max<std::size_t>(1, steps / 8);
}

void TrainerOptions::validate() const {
  expect(steps > 0, "train: steps must be 1 or more, not 0");
  expect(batch > 0, "train: batch must be 1 or more, not 0");
  expect(accumulate > 0, "train: accumulate must be 1 or more, not 0");
  expect(rate > 0 && std::isfinite(rate), "train: rate must be a number above 0, not {}", rate);
  expect(clip >= 0, "train: clip must be a norm above 0, or 0 for off, not {}", clip);
}

double validation_loss(const nn::Decoder& decoder, const Data& data, std::size_t batch) {
  const NoGrad guard;
  double sum = 0, counted = 0;
  const std::size_t count = data.validation_rows();
  for (std::size_t first = 0; first < count; first += batch) {
    const Batch rows = data.validation(first, batch);
    const double tokens = static_cast<double>(rows.counted());
    if (tokens > 0) sum += tokens * static_cast<double>(decoder.loss(rows.inputs, rows.targets, rows.rows).item());
    counted += tokens;
  }
  return sum / counted;
}

static std::vector<Tensor> tensors_of(const std::vector<nn::Parameter>& parameters) {
  std::vector<Tensor> tensors;
  for (const nn::Parameter& parameter : parameters) tensors.push_back(parameter.tensor);
  return tensors;
}

static const TrainerOptions& checked(const TrainerOptions& options) {
  options.validate();
  return options;
}

Trainer::Trainer(nn::Decoder& decoder, Data& data, const TrainerOptions& options)
    : decoder_(decoder),
      data_(data),
      options_(checked(options)),
      named_(nn::parameters(decoder)),
      weights_(tensors_of(named_)),
      optimizer_(decay_matrices(weights_, options.weight_decay), {.beta2 = options.beta2}),
      schedule_({.kind = options.schedule,
                 .peak = options.rate,
                 .floor = options.rate / 10,
                 .warmup_steps = std::min(options.warmup_steps, options.steps / 10),
                 .decay_steps = options.steps}),
      dropout_(options.seed, 2) {}

Trainer::State Trainer::state() const {
  State state = state_;
  state.dropout = dropout_.state();
  return state;
}

void Trainer::restore(const State& state) {
  state_ = state;
  dropout_ = Rng(state.dropout);
}

// The step's loss is the mean over all N targets that its batches count. A batch's own loss is the mean over the n that it
// counts itself, so it and its gradient have the weight n / N.
void Trainer::accumulate_gradients() {
  std::vector<Batch> batches;
  double all = 0;
  for (std::size_t i = 0; i < options_.accumulate; ++i) {
    batches.push_back(data_.training(options_.batch));
    all += static_cast<double>(batches.back().counted());
    state_.tokens += batches.back().inputs.size();
  }
  expect<TrainingError>(all > 0, "train: none of the {} rows of step {} has a target that counts",
                        options_.batch * options_.accumulate, state_.step);
  metrics_.loss = 0;
  for (const Batch& rows : batches) {
    const double weight = static_cast<double>(rows.counted()) / all;
    if (weight == 0) continue;
    const Tensor loss = decoder_.loss(rows.inputs, rows.targets, rows.rows, {.dropout = &dropout_});
    metrics_.loss += weight * static_cast<double>(loss.item());
    if (std::isfinite(metrics_.loss)) loss.backward(weight);
  }
}

static std::string first_bad_gradient(const std::vector<nn::Parameter>& weights) {
  for (const nn::Parameter& weight : weights)
    if (!std::isfinite(gradient_norm(std::span(&weight.tensor, 1)))) return weight.name;
  return "all together";
}

bool Trainer::reject(const std::string& found) {
  problem_ = message("train: {} at step {} (last finite loss {:.4f}); this step was not taken. Check the learning rate (a "
                     "tenth of it is the first thing to try), the clip (is it off?) and the data of this batch",
                     found, state_.step, state_.last_loss);
  for (Tensor& weight : weights_) weight.clear_grad();
  ++state_.skipped;
  expect<TrainingError>(options_.skip_bad_steps && ++state_.skipped_in_row < most_skipped_in_row, "{}", problem_);
  ++state_.step;
  return false;
}

void Trainer::validate_if_due() {
  metrics_.validation_loss.reset();
  const bool due = state_.step % options_.steps_between_validations() == 0 || state_.step == options_.steps;
  if (!due || data_.validation_rows() == 0) return;
  metrics_.validation_loss = validation_loss(decoder_, data_, 2 * options_.batch);
  is_best_ = !state_.best_validation_loss || *metrics_.validation_loss < *state_.best_validation_loss;
  if (is_best_) state_.best_validation_loss = metrics_.validation_loss;
  state_.validations_without_best = is_best_ ? 0 : state_.validations_without_best + 1;
}

bool Trainer::step() {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(clock::now() - start).count(); };
  const std::uint64_t tokens_before = state_.tokens;
  is_best_ = false;
  accumulate_gradients();
  if (!std::isfinite(metrics_.loss)) return reject(message("the loss is {}", std::abs(metrics_.loss)));  // of either sign
  metrics_.gradient_norm = clip_grad_norm(weights_, options_.clip);
  if (!std::isfinite(metrics_.gradient_norm))
    return reject(message("the gradient's norm is {}, first in {},", std::abs(metrics_.gradient_norm),
                          first_bad_gradient(named_)));
  metrics_.rate = schedule_.rate(state_.step);
  optimizer_.step(metrics_.rate);
  for (Tensor& weight : weights_) weight.clear_grad();

  state_.skipped_in_row = 0;
  state_.last_loss = metrics_.loss;
  metrics_.step = ++state_.step;
  metrics_.tokens = state_.tokens;
  metrics_.tokens_per_second = static_cast<double>(state_.tokens - tokens_before) / seconds();
  validate_if_due();
  state_.seconds += seconds();
  metrics_.seconds = state_.seconds;
  return true;
}

Metrics train(nn::Decoder& decoder, Data& data, const TrainerOptions& options,
              const std::function<void(const Metrics&)>& observe) {
  Trainer trainer(decoder, data, options);
  while (!trainer.finished())
    if (trainer.step() && observe) observe(trainer.metrics());
  return trainer.metrics();
}

}  // namespace gradus::optim
