// Some tens of micro-batches in the two projects' own training loops: the loss of each, the norm and rate of every
// update, and the weights at the end.
#include <cmath>
#include <numbers>

#include "optim/adamw.h"
#include "optim/clip.h"
#include "tests/golden/loaded.h"

namespace gradus::golden {

struct Run {
  std::size_t steps, accumulation;
  double peak, max_norm, weight_decay;
  optim::AdamWOptions adam;

  explicit Run(const File& file)
      : steps(file.json("steps")),
        accumulation(file.json("accumulation_steps")),
        peak(file.json("learning_rate")),
        max_norm(file.json("grad_clip")),
        weight_decay(file.json("optimizer")["weight_decay"]) {
    const Json settings = file.json("optimizer");
    adam = {.beta1 = settings["betas"][0], .beta2 = settings["betas"][1], .epsilon = settings["eps"]};
    // AdamW without decay is Adam; with it, they differ.
    expect(settings["name"] == "AdamW" || weight_decay == 0, "no optimizer of ours is Adam with weight decay {}",
           weight_decay);
  }
};

static double half_cosine(double progress) { return (1 + std::cos(std::numbers::pi * progress)) / 2; }

// Calls loss_of(j), the mean of micro-batch j = 0, 1, …; `updates(j)` says after which of them the weights change, and
// rate(j) how far.
template <class LossOf, class Updates, class Rate>
static void train(File& file, nn::Decoder& decoder, PlaceOf place_of, const LossOf& loss_of, const Updates& updates,
                  const Rate& rate) {
  file.count_case();
  const Run run(file);
  std::vector<Tensor> parameters;
  for (const nn::Parameter& parameter : nn::parameters(decoder)) parameters.push_back(parameter.tensor);
  optim::AdamW adamw({{parameters, run.weight_decay}}, run.adam);

  std::vector<double> losses, norms, rates, places;
  for (std::size_t j = 0; j < run.steps; ++j) {
    const Tensor surprise = loss_of(j);
    losses.push_back(static_cast<double>(surprise.item()));
    surprise.backward(1 / static_cast<double>(run.accumulation));
    if (!updates(j)) continue;
    rates.push_back(rate(j));
    norms.push_back(optim::clip_grad_norm(parameters, run.max_norm));
    adamw.step(rates.back());
    clear_gradients(decoder);
    places.push_back(static_cast<double>(j + 1));
  }
  file.compare("update_after_micro_step", places, exact);
  file.compare("lr", rates, optimizer);
  file.compare("loss", losses, training);
  file.compare("loss.f32", losses, float_result(training));
  file.compare("total_norm", norms, training);
  file.compare("total_norm.f32", norms, float_result(training));
  compare_parameters(file, decoder, place_of, "final.", training, [](const Tensor& t) { return t.values(); });
}

// Micro-batch j of numbers (steps, B, T).
static Batch micro_batch(File& file, const std::string& name, std::size_t j) {
  const Shape shape = file.shape(name);
  const std::vector<int> all = file.ids(name);
  const std::size_t size = shape[1] * shape[2];
  const std::span<const int> part = std::span(all).subspan(j * size, size);
  return {{part.begin(), part.end()}, shape[1], shape[2]};
}

// Upstream counts steps from 1 and updates where (step + 1) is a multiple: the first update has one micro-batch less,
// though each is divided by the full number, and what is left at the end is never applied.
static void train_minimind(File& file) {
  nn::Decoder decoder(minimind_config(file.json("config")));
  load(decoder, file, minimind_place, "init.");
  const Run run(file);
  const auto loss_of = [&](std::size_t j) {
    const Batch ids = micro_batch(file, "input_ids", j);
    return decoder.loss(ids.numbers, shifted(micro_batch(file, "labels", j)), ids.rows);
  };
  const auto updates = [&](std::size_t j) { return (j + 2) % run.accumulation == 0; };
  const auto rate = [&](std::size_t j) {
    return run.peak * (0.1 + 0.9 * half_cosine(static_cast<double>(j + 1) / static_cast<double>(run.steps)));
  };
  train(file, decoder, minimind_place, loss_of, updates, rate);
}

// A climb from 0, so that the first update moves nothing, then half a cosine down to a tenth.
static void train_happy(File& file) {
  nn::Decoder decoder(happy_config(file.json("config"), 1e4));
  load(decoder, file, happy_place, "init.");
  const Run run(file);
  const auto loss_of = [&](std::size_t j) {
    const Batch ids = micro_batch(file, "X", j);
    const Tensor logits = decoder.logits(decoder.hidden(ids.numbers, ids.rows));
    return happy_loss(logits, micro_batch(file, "Y", j).numbers, micro_batch(file, "loss_mask", j).numbers);
  };
  const auto updates = [&](std::size_t j) { return (j + 1) % run.accumulation == 0; };
  const auto rate = [&, warmup = file.json("warmup_iters").get<double>()](std::size_t j) {
    const double step = static_cast<double>(j), total = static_cast<double>(run.steps), floor = run.peak / 10;
    return step < warmup ? run.peak * step / warmup
                         : floor + (run.peak - floor) * half_cosine((step - warmup) / (total - warmup));
  };
  train(file, decoder, happy_place, loss_of, updates, rate);
}

static auto training_of(const char* embedding) {
  return [embedding](const File& file) {
    return file.form().starts_with("train.") && file.has(std::string("init.") + embedding);
  };
}
static const Kind minimind("train minimind", training_of("model.embed_tokens.weight"), train_minimind);
static const Kind happy("train happy", training_of("tok_embeddings.weight"), train_happy);

}  // namespace gradus::golden
