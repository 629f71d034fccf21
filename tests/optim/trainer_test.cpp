#include "optim/trainer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "autograd/buffer.h"
#include "autograd/error.h"
#include "autograd/ops/cross_entropy.h"
#include "autograd/parallel.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/generate.h"
#include "optim/story_grammar.h"
#include "optim/windows.h"

using namespace gradus;
using namespace gradus::optim;

static nn::Config tiny() {
  return {.vocab_size = 256, .width = 16, .n_layers = 2, .n_heads = 2, .n_kv_heads = 1, .hidden = 24, .context_length = 16};
}

static nn::Decoder fresh_decoder(nn::Config config = tiny()) {
  nn::Decoder decoder(config);
  Rng rng(5, 1);
  nn::initialise(decoder, rng);
  return decoder;
}

static Windows story_windows(double validation_fraction = 0.1) {
  return Windows(nn::ByteTokenizer().encode(story_corpus(1, 5000).text), 16, validation_fraction, 5);
}

static std::vector<Real> weights_of(const nn::Decoder& decoder) {
  std::vector<Real> all;
  for (const nn::Parameter& parameter : nn::parameters(decoder))
    all.insert(all.end(), parameter.tensor.values().begin(), parameter.tensor.values().end());
  return all;
}

struct Run {
  std::vector<double> losses;
  std::vector<Real> weights;
};

static Run run(const TrainerOptions& options, nn::Config config = tiny()) {
  nn::Decoder decoder = fresh_decoder(config);
  Windows windows = story_windows();
  Run result;
  train(decoder, windows, options, [&](const Metrics& metrics) { result.losses.push_back(metrics.loss); });
  for (const nn::Parameter& parameter : nn::parameters(decoder))
    result.weights.insert(result.weights.end(), parameter.tensor.values().begin(), parameter.tensor.values().end());
  return result;
}

TEST_CASE("training makes the text less surprising") {
  nn::Decoder decoder = fresh_decoder();
  Windows windows = story_windows();
  const double before = validation_loss(decoder, windows, 8);
  const Metrics last = train(decoder, windows, {.steps = 60, .batch = 8, .rate = 1e-2});
  CHECK(before == doctest::Approx(std::log(256.0)).epsilon(0.02));
  REQUIRE(last.validation_loss.has_value());
  CHECK(*last.validation_loss < before - 2);
  CHECK(last.tokens == 60 * 8 * 16);
}

TEST_CASE("the very first step moves the weights") {
  nn::Decoder decoder = fresh_decoder();
  Windows windows = story_windows();
  const std::vector<Real> before = weights_of(decoder);
  Trainer trainer(decoder, windows, {.steps = 1000, .batch = 1, .warmup_steps = 100});
  CHECK(trainer.step());
  CHECK(trainer.metrics().rate > 0);
  CHECK(weights_of(decoder) != before);
}

TEST_CASE("the same seed and the same number of threads give the same bytes") {
  nn::Config config = tiny();
  config.dropout = 0.1;
  const TrainerOptions options{.steps = 10, .batch = 4};
  const Run one = run(options, config), two = run(options, config);
  CHECK(one.losses == two.losses);
  CHECK(one.weights == two.weights);
}

TEST_CASE("another number of threads gives the same losses to rounding") {
  const std::size_t before = thread_count();
  const TrainerOptions options{.steps = 10, .batch = 4};
  set_thread_count(1);
  const Run one = run(options);
  set_thread_count(3);
  const Run three = run(options);
  set_thread_count(before);
  for (std::size_t i = 0; i < one.losses.size(); ++i)
    CHECK(one.losses[i] == doctest::Approx(three.losses[i]).epsilon(sizeof(Real) == 8 ? 1e-10 : 1e-4));
}

TEST_CASE("looking at the validation loss changes nothing") {
  nn::Config config = tiny();
  config.dropout = 0.1;
  TrainerOptions often{.steps = 10, .batch = 4, .eval_every = 1}, never{.steps = 10, .batch = 4, .eval_every = 1000};
  CHECK(run(often, config).losses == run(never, config).losses);
}

TEST_CASE("after the first steps, training takes no more memory from the system") {
  nn::Decoder decoder = fresh_decoder();
  Windows windows = story_windows();
  std::size_t after_two = 0, after_all = 0;
  train(decoder, windows, {.steps = 100, .batch = 4, .eval_every = 1000}, [&](const Metrics& metrics) {
    if (metrics.step == 2) after_two = buffer_bytes_reserved();
    after_all = buffer_bytes_reserved();
  });
  CHECK(after_two > 0);
  CHECK(after_all <= after_two + 64 * 1024);  // the last step's validation has batches of another size
}

TEST_CASE("the validation loss is the mean over all windows, however they are put into batches") {
  const nn::Decoder decoder = fresh_decoder();
  const Windows windows = story_windows();
  const double one_by_one = validation_loss(decoder, windows, 1);
  CHECK(validation_loss(decoder, windows, 7) == doctest::Approx(one_by_one).epsilon(1e-5));
  CHECK(validation_loss(decoder, windows, 1000) == doctest::Approx(one_by_one).epsilon(1e-5));
}

TEST_CASE("a loss that is no number stops the run, says the step and what to check, and leaves the weights alone") {
  nn::Decoder decoder = fresh_decoder();
  decoder.embedding.weight.mutable_values()[static_cast<std::size_t>('e') * 16] = NAN;
  Windows windows = story_windows();
  const Real before = decoder.norm.gain.values()[0];
  CHECK_THROWS_WITH_AS(train(decoder, windows, {.steps = 10, .batch = 4}),
                       doctest::Contains("train: the loss is nan at step 0"), TrainingError);
  CHECK(decoder.norm.gain.values()[0] == before);
}

TEST_CASE("a rate of a million is stopped at the first gradient that is no number, before it reaches a weight") {
  if (sizeof(Real) == 8) return;  // the rate is chosen to overflow float
  nn::Decoder decoder = fresh_decoder();
  Windows windows = story_windows();
  std::vector<Real> last = weights_of(decoder);
  CHECK_THROWS_WITH_AS(train(decoder, windows, {.steps = 40, .batch = 4, .rate = 1e6}, [&](const Metrics&) { last = weights_of(decoder); }),
                       doctest::Contains("Check the learning rate"), TrainingError);
  CHECK(weights_of(decoder) == last);
  for (Real value : last) REQUIRE(std::isfinite(value));
}

TEST_CASE("settings that make no sense are refused by name") {
  nn::Decoder decoder = fresh_decoder();
  Windows windows = story_windows();
  CHECK_THROWS_WITH_AS(train(decoder, windows, {.steps = 0}), "train: steps must be 1 or more, not 0", ShapeError);
  CHECK_THROWS_WITH_AS(train(decoder, windows, {.batch = 0}), "train: batch must be 1 or more, not 0", ShapeError);
  CHECK_THROWS_WITH_AS(train(decoder, windows, {.rate = -1}), "train: rate must be a number above 0, not -1", ShapeError);
  CHECK_THROWS_AS(train(decoder, windows, {.clip = -1}), ShapeError);
}

namespace {

// Rows of which the i-th counts its last targets[i] targets, the same again and again.
struct UnequalRows : Data {
  std::vector<std::size_t> counts;
  std::size_t next = 0;
  explicit UnequalRows(std::vector<std::size_t> targets) : counts(std::move(targets)) {}
  Batch training(std::size_t rows) override {
    constexpr std::size_t time = 8;
    Batch batch;
    for (; batch.rows < rows; ++batch.rows, ++next)
      for (std::size_t t = 0; t < time; ++t) {
        const int id = static_cast<int>((7 * next + 13 * t * t) % 256);
        batch.inputs.push_back(id);
        batch.targets.push_back(t >= time - counts[next % counts.size()] ? (id * 31 + 5) % 256 : ignore_index);
      }
    return batch;
  }
  std::size_t validation_rows() const override { return 0; }
  Batch validation(std::size_t, std::size_t) const override { return {}; }
  std::vector<std::uint64_t> state() const override { return {next}; }
  void restore(std::span<const std::uint64_t> state) override { next = state[0]; }
};

struct Moments {
  std::vector<Tensor> first;  // after one step (1 − β₁) times the step's gradient
  std::vector<Real> weights;
  double loss;
};

Moments after_one_step(std::vector<std::size_t> counts, std::size_t batch, std::size_t accumulate) {
  nn::Decoder decoder = fresh_decoder();
  UnequalRows rows(std::move(counts));
  Trainer trainer(decoder, rows, {.steps = 1, .batch = batch, .accumulate = accumulate, .rate = 1e-3, .clip = 0});
  trainer.step();
  Moments result{{}, weights_of(decoder), trainer.metrics().loss};
  for (const AdamW::State& state : trainer.optimizer().states()) result.first.push_back(state.first_moment);
  return result;
}

}  // namespace

TEST_CASE("accumulated batches give the gradient and the step of one large batch, also where rows count unequally") {
  const bool is_double = sizeof(Real) == 8;
  for (const std::vector<std::size_t>& counts : {std::vector<std::size_t>(8, 8), {1, 2, 3, 4, 5, 6, 7, 8}, {8, 0, 0, 1, 0, 0, 3, 2}}) {
    const Moments whole = after_one_step(counts, 8, 1);
    for (const std::size_t batch : {4, 2, 1}) {
      CAPTURE(batch);
      const Moments parts = after_one_step(counts, batch, 8 / batch);
      CHECK(parts.loss == doctest::Approx(whole.loss).epsilon(is_double ? 1e-13 : 1e-6));
      for (std::size_t i = 0; i < whole.first.size(); ++i) {
        double largest = 0, difference = 0;
        for (std::size_t j = 0; j < whole.first[i].size(); ++j) {
          const double value = static_cast<double>(whole.first[i].values()[j]);
          largest = std::max(largest, std::abs(value));
          difference = std::max(difference, std::abs(value - static_cast<double>(parts.first[i].values()[j])));
        }
        CHECK(difference <= (is_double ? 1e-12 : 1e-4) * largest);
      }
      if (!is_double) continue;  // Adam's first step is the sign of a gradient: rounding decides it where that is near zero
      for (std::size_t i = 0; i < whole.weights.size(); ++i)
        REQUIRE(static_cast<double>(parts.weights[i]) == doctest::Approx(static_cast<double>(whole.weights[i])).epsilon(1e-10));
    }
  }
}

TEST_CASE("rows of which none counts a target are refused") {
  nn::Decoder decoder = fresh_decoder();
  UnequalRows rows({0});
  CHECK_THROWS_WITH_AS(train(decoder, rows, {.steps = 1, .batch = 4, .accumulate = 2}),
                       "train: none of the 8 rows of step 0 has a target that counts", TrainingError);
}

TEST_CASE("a bad step can be left out: the weights stay as they are, it is counted, and ten in a row end the run") {
  nn::Decoder decoder = fresh_decoder();
  Windows windows = story_windows();
  const std::vector<Real> before = weights_of(decoder);
  Trainer trainer(decoder, windows, {.steps = 40, .batch = 4, .skip_bad_steps = true});
  Real& hole = decoder.norm.gain.mutable_values()[3];
  const Real kept = hole;
  hole = NAN;
  CHECK_FALSE(trainer.step());
  CHECK_FALSE(trainer.step());
  CHECK(trainer.problem().starts_with("train: the loss is nan at step 1 "));
  CHECK(trainer.state().skipped == 2);
  decoder.norm.gain.mutable_values()[3] = kept;
  CHECK(weights_of(decoder) == before);
  CHECK(trainer.step());
  CHECK(weights_of(decoder) != before);
  CHECK(trainer.metrics().step == 3);

  decoder.norm.gain.mutable_values()[3] = NAN;
  for (int i = 0; i < 9; ++i) CHECK_FALSE(trainer.step());
  CHECK_THROWS_AS(trainer.step(), TrainingError);
}

// Activations near the largest number there is, brought down again by `down`: the loss is finite, the gradient of `down` is not.
static nn::Decoder with_infinite_gradient() {
  nn::Decoder decoder = fresh_decoder();
  const double large = sizeof(Real) == 8 ? 1e153 : 1e18;
  const auto fill = [](Tensor tensor, double value) {
    for (Real& entry : tensor.mutable_values()) entry = static_cast<Real>(value);
  };
  nn::SwiGLU& last = decoder.layers[1].feed_forward;
  fill(last.gate.weight, large);
  fill(last.up.weight, large);
  fill(last.down.weight, 0.01 / (large * large));
  fill(decoder.norm.gain, 1e6);
  return decoder;
}

TEST_CASE("a gradient that is no number is refused by the name of its tensor, and reaches no weight") {
  nn::Decoder decoder = with_infinite_gradient();
  const std::vector<Real> before = weights_of(decoder);
  Windows windows = story_windows();
  const char* problem = "train: the gradient's norm is inf, first in layers.1.feed_forward.down.weight, at step 0";
  CHECK_THROWS_WITH_AS(train(decoder, windows, {.steps = 3, .batch = 4}), doctest::Contains(problem), TrainingError);
  CHECK(weights_of(decoder) == before);

  Trainer trainer(decoder, windows, {.steps = 3, .batch = 4, .skip_bad_steps = true});
  CHECK_FALSE(trainer.step());
  CHECK(trainer.problem().starts_with(problem));
  CHECK(trainer.state().skipped == 1);
  CHECK(weights_of(decoder) == before);
}

TEST_CASE("a run without a new best for as long as its patience lasts ends") {
  nn::Decoder decoder = fresh_decoder();
  Windows windows = story_windows();
  Trainer trainer(decoder, windows, {.steps = 1000, .batch = 1, .eval_every = 1, .rate = 1, .patience = 3});
  std::vector<double> losses;
  while (!trainer.finished()) {
    trainer.step();
    losses.push_back(*trainer.metrics().validation_loss);
    CHECK(trainer.is_best() == (losses.back() == *trainer.state().best_validation_loss));
  }
  REQUIRE(losses.size() < 1000);
  CHECK(trainer.out_of_patience());
  const auto best = std::min_element(losses.begin(), losses.end());
  CHECK(losses.end() - best == 4);
}

TEST_CASE("on random bytes nothing is learnt that was not seen") {
  Rng rng(3);
  std::vector<int> noise(60000);
  for (int& id : noise) id = static_cast<int>(rng.below(256));
  Windows windows(noise, 16, 0.1, 1);
  nn::Decoder decoder = fresh_decoder();
  double lowest = 100;
  train(decoder, windows, {.steps = 120, .batch = 16, .eval_every = 20, .rate = 3e-3},
        [&](const Metrics& now) { lowest = std::min(lowest, now.validation_loss.value_or(lowest)); });
  CHECK(lowest > std::log(256.0) - 0.05);
}

TEST_CASE("a line of 64 bytes is learnt by heart") {
  const std::string line = "The quick brown fox, jumping: 3.14159 lazy dogs & one umbrella!\n";
  REQUIRE(line.size() == 64);
  nn::Config config = tiny();
  config.width = 32;
  config.context_length = 64;
  nn::Decoder decoder = fresh_decoder(config);
  const std::vector<int> ids = nn::ByteTokenizer().encode(line + line[0]);
  Windows windows(ids, 64, 0, 1);
  CHECK(train(decoder, windows, {.steps = 150, .batch = 1, .rate = 1e-2, .warmup_steps = 5}).loss < 0.1);
  Rng rng(1);
  const std::vector<int> written = nn::generate(decoder, std::span(ids).first(1), {.tokens = 63, .sampler = {.temperature = 0}}, rng);
  CHECK(nn::ByteTokenizer().decode(written) == line.substr(1));
}
