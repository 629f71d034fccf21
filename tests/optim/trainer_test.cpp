#include "optim/trainer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "autograd/buffer.h"
#include "autograd/error.h"
#include "autograd/parallel.h"
#include "nn/text/byte_tokenizer.h"
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
  const auto weights = [&] {
    std::vector<Real> all;
    for (const nn::Parameter& parameter : nn::parameters(decoder))
      all.insert(all.end(), parameter.tensor.values().begin(), parameter.tensor.values().end());
    return all;
  };
  std::vector<Real> last = weights();
  CHECK_THROWS_WITH_AS(train(decoder, windows, {.steps = 40, .batch = 4, .rate = 1e6}, [&](const Metrics&) { last = weights(); }),
                       doctest::Contains("Check the learning rate"), TrainingError);
  CHECK(weights() == last);
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
