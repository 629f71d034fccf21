#include "nn/text/generate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "autograd/error.h"
#include "nn/decoder.h"

using namespace gradus;
using namespace gradus::nn;

static Decoder small(std::uint64_t seed = 1) {
  Decoder decoder({.vocab_size = 17, .width = 8, .n_layers = 1, .n_heads = 2, .n_kv_heads = 1, .hidden = 8,
                   .context_length = 8});
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

static Decoder larger(std::size_t context) {
  Decoder decoder({.vocab_size = 17, .width = 8, .n_layers = 2, .n_heads = 2, .n_kv_heads = 1, .hidden = 8,
                   .context_length = context});
  Rng weights(4);
  for (Parameter parameter : parameters(decoder))
    for (Real& value : parameter.tensor.mutable_values()) value = static_cast<Real>(0.5 * weights.normal());
  return decoder;
}

static std::vector<int> random_prompt(std::size_t length, std::uint64_t seed = 4) {
  Rng rng(seed);
  std::vector<int> prompt(length);
  for (int& id : prompt) id = static_cast<int>(rng.below(17));
  return prompt;
}

// A sampler that also keeps what it draws from.
static Sampler recorder(const SamplerOptions& options, std::vector<std::vector<Real>>& rows) {
  return [&rows, sampler = make_sampler(options, Rng(1))](std::span<const Real> logits, std::span<const int> context) {
    rows.emplace_back(logits.begin(), logits.end());
    return sampler(logits, context);
  };
}

TEST_CASE("with and without a cache ids are the same and logits too, up to the context's end and past it") {
  constexpr double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-5;
  for (const std::size_t context : {64, 256}) {
    const Decoder decoder = larger(context);
    for (const std::size_t length : {std::size_t{1}, std::size_t{2}, context / 2, context - 1, context, context + 6}) {
      const std::vector<int> prompt = random_prompt(length);
      for (const double temperature : {0.0, 1.0}) {
        CAPTURE(context);
        CAPTURE(length);
        CAPTURE(temperature);
        GenerateOptions options{.tokens = 200};
        std::vector<std::vector<Real>> cached, uncached;
        const std::vector<int> ids =
            generate(decoder, prompt, options, recorder({.temperature = temperature}, cached));
        options.cache = false;
        CHECK(ids == generate(decoder, prompt, options, recorder({.temperature = temperature}, uncached)));
        REQUIRE(ids.size() == 200);
        double apart = 0;
        for (std::size_t step = 0; step < 200; ++step) {
          double largest = 0, difference = 0;
          for (std::size_t id = 0; id < 17; ++id) {
            const double a = cached[step][id], b = uncached[step][id];
            largest = std::max(largest, std::abs(b));
            difference = std::max(difference, std::abs(a - b));
          }
          apart = std::max(apart, difference / largest);
        }
        CHECK(apart < tolerance);
      }
    }
  }
}

TEST_CASE("texts of 1, 5 and 17 tokens are continued in one batch as they are alone, past the context too") {
  const Decoder decoder = larger(32);
  const std::vector<std::vector<int>> prompts = {random_prompt(1, 1), random_prompt(5, 2), random_prompt(17, 3)};
  for (const double temperature : {0.0, 1.0})
    for (const bool cache : {true, false}) {
      const GenerateOptions options{.tokens = 40, .sampler = {.temperature = temperature}, .cache = cache};
      const auto samplers = [&] {
        std::vector<Sampler> list;
        for (std::size_t row = 0; row < prompts.size(); ++row)
          list.push_back(make_sampler(options.sampler, Rng(9, row)));
        return list;
      };
      std::vector<std::vector<int>> alone;
      const std::vector<Sampler> own = samplers();
      for (std::size_t row = 0; row < prompts.size(); ++row)
        alone.push_back(generate(decoder, prompts[row], options, own[row]));
      CHECK(generate_batch(decoder, prompts, options, samplers()) == alone);
    }
}

TEST_CASE("a row that ends leaves its batch, and the others go on as before") {
  const Decoder decoder = larger(32);
  const std::vector<std::vector<int>> prompts = {random_prompt(3, 1), random_prompt(1, 2), random_prompt(6, 3),
                                                 random_prompt(40, 4)};
  const GenerateOptions options{.tokens = 30, .end_token = 16};
  // Row r is forced to its end at its token number 4 r + 2, and asked no more after it.
  std::vector<std::size_t> asked(prompts.size());
  const auto sampler = [&](std::size_t row) -> Sampler {
    return [&, row, draw = make_sampler({}, Rng(2, row))](std::span<const Real> logits, std::span<const int> context) {
      const int id = draw(logits, context) % 16;
      return ++asked[row] == 4 * row + 2 ? 16 : id;
    };
  };
  std::vector<std::vector<int>> alone, reported(prompts.size());
  std::vector<Sampler> samplers;
  for (std::size_t row = 0; row < prompts.size(); ++row) {
    alone.push_back(generate(decoder, prompts[row], options, sampler(row)));
    CHECK(alone[row].size() == 4 * row + 2);
    samplers.push_back(sampler(row));
  }
  asked.assign(prompts.size(), 0);
  const auto together = generate_batch(decoder, prompts, options, samplers,
                                       [&](std::size_t row, int id) { reported[row].push_back(id); });
  CHECK(together == alone);
  CHECK(reported == alone);
  for (std::size_t row = 0; row < prompts.size(); ++row) CHECK(asked[row] == 4 * row + 2);
}

TEST_CASE("a batch needs a sampler for each prompt, and no empty prompt; a batch of nothing writes nothing") {
  const Decoder decoder = small();
  const std::vector<std::vector<int>> prompts = {{1}, {}};
  std::vector<Sampler> samplers = {make_sampler({}, Rng(1))};
  CHECK_THROWS_WITH_AS(generate_batch(decoder, prompts, {}, samplers),
                       "generate: 2 prompts need as many samplers, and there are 1", ShapeError);
  samplers.push_back(samplers[0]);
  CHECK_THROWS_WITH_AS(generate_batch(decoder, prompts, {}, samplers),
                       "generate: prompt 1 is empty; there must be at least one token to continue", ShapeError);
  CHECK(generate_batch(decoder, {}, {}, {}).empty());
}

TEST_CASE("two texts written at once, one inside the other, do not influence each other") {
  const Decoder decoder = larger(32);
  const std::vector<int> prompt = {1, 2, 3};
  const auto write = [&](std::uint64_t seed, const std::function<void(int)>& on_token = {}) {
    Rng rng(seed);
    return generate(decoder, prompt, {.tokens = 12}, rng, on_token);
  };
  const std::vector<int> alone = write(1), other = write(2);
  std::size_t agree = 0;
  const std::vector<int> around = write(1, [&](int) { agree += write(2) == other; });
  CHECK(around == alone);
  CHECK(agree == 12);
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

TEST_CASE("an end token at the fifth token leaves four to print, and is passed over where it is to be ignored") {
  const Decoder decoder = small();
  const std::vector<int> prompt = {1};
  const Sampler forced = [](std::span<const Real>, std::span<const int> text) { return text.size() % 5 == 0 ? 16 : 7; };
  GenerateOptions options{.tokens = 12, .end_token = 16};
  CHECK(generate(decoder, prompt, options, forced) == std::vector{7, 7, 7, 7, 16});
  options = {.tokens = 12, .end_token = 15, .more_end_tokens = {3, 16}};
  CHECK(generate(decoder, prompt, options, forced) == std::vector{7, 7, 7, 7, 16});
  options.ignore_end = true;
  CHECK(generate(decoder, prompt, options, forced).size() == 12);
}

TEST_CASE("a text ends where the caller says stop") {
  const Decoder decoder = small();
  const std::vector<int> prompt = {1};
  Rng rng(1);
  int seen = 0;
  GenerateOptions options{.tokens = 50, .stop = [&](std::size_t row) { return row == 0 && seen == 3; }};
  CHECK(generate(decoder, prompt, options, rng, [&](int) { ++seen; }).size() == 3);
}

TEST_CASE("a prompt of all but one token of the context has room for one more, and a full context slides") {
  const Decoder decoder = small();
  std::vector<int> text = {1, 2, 3, 4, 5, 6, 7};
  Rng one(1), two(1);
  GenerateOptions options{.tokens = 1, .sampler = {.temperature = 0}};
  const std::vector<int> cached = generate(decoder, text, options, one);
  options.cache = false;
  CHECK(cached == generate(decoder, text, options, two));
  options.tokens = 1000;
  CHECK(generate(decoder, text, options, two).size() == 1000);
}

TEST_CASE("what cannot be continued is refused") {
  const Decoder decoder = small();
  Rng rng(1);
  CHECK_THROWS_WITH_AS(generate(decoder, {}, {}, rng),
                       "generate: prompt 0 is empty; there must be at least one token to continue", ShapeError);
  const std::vector<int> outside = {17};
  CHECK_THROWS_WITH_AS(generate(decoder, outside, {}, rng), doctest::Contains("17"), ShapeError);
  const std::vector<int> prompt = {1};
  CHECK_THROWS_AS(generate(decoder, prompt, {.sampler = {.temperature = -1}}, rng), ShapeError);
  CHECK(generate(decoder, prompt, {.tokens = 0}, rng).empty());
}
