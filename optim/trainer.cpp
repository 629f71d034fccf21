#include "optim/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "optim/adamw.h"
#include "optim/clip.h"
#include "optim/schedule.h"

namespace gradus::optim {

void TrainerOptions::validate() const {
  expect(steps > 0, "train: steps must be 1 or more, not 0");
  expect(batch > 0, "train: batch must be 1 or more, not 0");
  expect(rate > 0 && std::isfinite(rate), "train: rate must be a number above 0, not {}", rate);
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

static void expect_finite(std::string_view what, double value, std::size_t step, double last_loss) {
  expect<TrainingError>(std::isfinite(value),
                        "train: {} is {} at step {} (last finite loss {:.4f}); this step was not taken. Check the "
                        "learning rate (a tenth of it is the first thing to try), the clip (is it off?) and the data of "
                        "this batch",
                        what, std::abs(value), step, last_loss);  // NaN has a sign that says nothing
}

Metrics train(nn::Decoder& decoder, Data& data, const TrainerOptions& options,
              const std::function<void(const Metrics&)>& observe) {
  options.validate();
  std::vector<Tensor> weights;
  for (const nn::Parameter& parameter : nn::parameters(decoder)) weights.push_back(parameter.tensor);
  AdamW optimizer(decay_matrices(weights, options.weight_decay), {.beta2 = options.beta2});
  const Schedule schedule({.peak = options.rate,
                           .floor = options.rate / 10,
                           .warmup_steps = std::min(options.warmup_steps, options.steps / 10),
                           .decay_steps = options.steps});
  Rng dropout(options.seed, 2);
  const std::size_t eval_every = options.eval_every > 0 ? options.eval_every : std::max<std::size_t>(1, options.steps / 8);
  const bool has_validation = data.validation_rows() > 0;

  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  Metrics metrics;
  for (std::size_t step = 0; step < options.steps; ++step) {
    const auto step_start = clock::now();
    const double last_loss = metrics.loss;
    const Batch batch = data.training(options.batch);
    const Tensor loss = decoder.loss(batch.inputs, batch.targets, batch.rows, {.dropout = &dropout});
    metrics.loss = static_cast<double>(loss.item());
    expect_finite("the loss", metrics.loss, step, last_loss);

    loss.backward();
    metrics.gradient_norm = clip_grad_norm(weights, options.clip);
    expect_finite("the gradient's norm", metrics.gradient_norm, step, metrics.loss);
    metrics.rate = schedule.rate(step);
    optimizer.step(metrics.rate);
    for (Tensor& weight : weights) weight.clear_grad();

    metrics.step = step + 1;
    metrics.tokens += batch.inputs.size();
    metrics.tokens_per_second =
        static_cast<double>(batch.inputs.size()) / std::chrono::duration<double>(clock::now() - step_start).count();
    metrics.validation_loss.reset();
    if (has_validation && (metrics.step % eval_every == 0 || metrics.step == options.steps))
      metrics.validation_loss = validation_loss(decoder, data, 2 * options.batch);
    metrics.seconds = std::chrono::duration<double>(clock::now() - start).count();
    if (observe) observe(metrics);
  }
  return metrics;
}

}  // namespace gradus::optim
