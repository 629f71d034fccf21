// One training step: forward, backward, clipping, AdamW. The limit is the matrix products alone: 6 operations for each
// weight and token (2 forward, 4 backward), at the speed of gemm_bench's large products.
#include <benchmark/benchmark.h>

#include "autograd/parallel.h"
#include "nn/decoder.h"
#include "optim/adamw.h"
#include "optim/clip.h"

using namespace gradus;

static void training_step(benchmark::State& state, const nn::Config& config, std::size_t batch) {
  set_thread_count(static_cast<std::size_t>(state.range(0)));
  nn::Decoder decoder(config);
  Rng rng(1);
  nn::initialise(decoder, rng);
  std::vector<Tensor> weights;
  for (const nn::Parameter& parameter : nn::parameters(decoder)) weights.push_back(parameter.tensor);
  optim::AdamW optimizer(optim::decay_matrices(weights, 0.1));
  std::vector<int> ids(batch * config.context_length), targets(ids.size());
  for (int& id : ids) id = static_cast<int>(rng.below(config.vocab_size));
  for (int& target : targets) target = static_cast<int>(rng.below(config.vocab_size));

  for (auto _ : state) {
    decoder.loss(ids, targets, batch).backward();
    optim::clip_grad_norm(weights, 1);
    optimizer.step(1e-4);
    for (Tensor& weight : weights) weight.clear_grad();
  }
  const double tokens = static_cast<double>(ids.size() * state.iterations());
  state.counters["tokens/s"] = benchmark::Counter(tokens, benchmark::Counter::kIsRate);
  state.counters["GFLOP/s"] =
      benchmark::Counter(6e-9 * static_cast<double>(config.parameter_count()) * tokens, benchmark::Counter::kIsRate);
}

static void training_step_shakespeare(benchmark::State& state) {
  training_step(state, nn::find_preset("shakespeare").config, 12);
}
BENCHMARK(training_step_shakespeare)->Arg(1)->Arg(2)->ArgName("threads")->Unit(benchmark::kMillisecond)->UseRealTime();

static void training_step_stories(benchmark::State& state) {
  training_step(state, nn::find_preset("stories").config, 16);
}
BENCHMARK(training_step_stories)->Arg(1)->Arg(2)->ArgName("threads")->Unit(benchmark::kMillisecond)->UseRealTime();
