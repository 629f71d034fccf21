#include "nn/text/generate.h"

#include <doctest/doctest.h>

#include "autograd/error.h"

using namespace gradus;
using namespace gradus::nn;

static Decoder small(std::uint64_t seed = 1) {
  Decoder decoder({.vocab_size = 17, .width = 8, .n_layers = 1, .n_heads = 2, .n_kv_heads = 1, .hidden = 8, .context_length = 8});
  Rng rng(seed);
  for (Parameter parameter : parameters(decoder))
    for (Real& value : parameter.tensor.mutable_values()) value = static_cast<Real>(0.5 * rng.normal());
  return decoder;
}

TEST_CASE("the same seed writes the same text, and seed 0 is an ordinary seed") {
  const Decoder decoder = small();
  const std::vector<int> prompt = {1, 2, 3};
  const auto write = [&](std::uint64_t seed) {
    Rng rng(seed);
    return generate(decoder, prompt, {.tokens = 30}, rng);
  };
  CHECK(write(7) == write(7));
  CHECK(write(0) == write(0));
  CHECK(write(0) != write(7));
}

TEST_CASE("temperature 0 takes the likeliest token and draws nothing") {
  const Decoder decoder = small();
  const std::vector<int> prompt = {1, 2, 3};
  Rng one(1), two(2);
  CHECK(generate(decoder, prompt, {.tokens = 20, .sampler = {.temperature = 0}}, one) ==
        generate(decoder, prompt, {.tokens = 20, .sampler = {.temperature = 0}}, two));
  CHECK(one.state() == Rng(1).state());
}

TEST_CASE("a text longer than the context goes on from its last context_length tokens") {
  const Decoder decoder = small();
  const std::vector<int> longer = {9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8}, last = {1, 2, 3, 4, 5, 6, 7, 8};
  Rng one(1), two(1);
  CHECK(generate(decoder, longer, {.tokens = 40}, one) == generate(decoder, last, {.tokens = 40}, two));
}

TEST_CASE("with and without a cache the text is the same, up to the context's end and past it") {
  Decoder decoder({.vocab_size = 17, .width = 8, .n_layers = 2, .n_heads = 2, .n_kv_heads = 1, .hidden = 8, .context_length = 64});
  Rng weights(4);
  for (Parameter parameter : parameters(decoder))
    for (Real& value : parameter.tensor.mutable_values()) value = static_cast<Real>(0.5 * weights.normal());
  for (std::size_t length : {1, 2, 32, 63, 64, 70}) {
    CAPTURE(length);
    std::vector<int> prompt(length);
    for (int& id : prompt) id = static_cast<int>(weights.below(17));
    for (double temperature : {0.0, 1.0}) {
      Rng one(1), two(1);
      const GenerateOptions cached{.tokens = 200, .sampler = {.temperature = temperature}};
      GenerateOptions uncached = cached;
      uncached.cache = false;
      CHECK(generate(decoder, prompt, cached, one) == generate(decoder, prompt, uncached, two));
    }
  }
}

TEST_CASE("an end token is the last token that is written, and every token is reported as it comes") {
  const Decoder decoder = small();
  const std::vector<int> prompt = {1};
  Rng one(3), two(3);
  const std::vector<int> endless = generate(decoder, prompt, {.tokens = 50}, one);
  const int end = endless[10];
  std::vector<int> reported;
  const std::vector<int> ended =
      generate(decoder, prompt, {.tokens = 50, .end_token = end}, two, [&](int id) { reported.push_back(id); });
  CHECK(ended.size() <= 11);
  CHECK(ended.back() == end);
  CHECK(reported == ended);
  CHECK(std::equal(ended.begin(), ended.end(), endless.begin()));
}

TEST_CASE("what cannot be continued is refused") {
  const Decoder decoder = small();
  Rng rng(1);
  CHECK_THROWS_WITH_AS(generate(decoder, {}, {}, rng),
                       "generate: the prompt is empty; there must be at least one token to continue", ShapeError);
  const std::vector<int> outside = {17};
  CHECK_THROWS_WITH_AS(generate(decoder, outside, {}, rng), doctest::Contains("17"), ShapeError);
  const std::vector<int> prompt = {1};
  CHECK_THROWS_AS(generate(decoder, prompt, {.sampler = {.temperature = -1}}, rng), ShapeError);
  CHECK(generate(decoder, prompt, {.tokens = 0}, rng).empty());
}
