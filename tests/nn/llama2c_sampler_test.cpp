// llama2.c's draws against what llama2.c itself has written.
#include "nn/text/llama2c_sampler.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "autograd/error.h"
#include "nn/llama2c.h"
#include "nn/text/generate.h"
#include "nn/text/llama2c_tokenizer.h"

using namespace gradus;
using namespace gradus::nn;
namespace fs = std::filesystem;

static const fs::path stories = fs::path(GRADUS_SHARED_DIR) / "data/stories260K";

TEST_CASE("the texts that llama2.c drew are drawn again, token for token") {
  if (!fs::exists(stories)) {
    MESSAGE("skipped: " << stories.string() << " is not there");
    return;
  }
  const Decoder decoder = read_llama2c(stories / "stories260K.bin");
  const Llama2cTokenizer tokenizer(stories / "tok512.bin", 512);
  for (const char* name : {"sample-t0.8-p1.0-s42-once-upon-a-time", "sample-t1.0-p0.9-s133742-empty"}) {
    CAPTURE(name);
    std::ifstream file(stories / "golden" / (std::string(name) + ".json"));
    const auto golden = nlohmann::json::parse(file);
    const std::vector<int> prompt = tokenizer.encode(golden["prompt"].get<std::string>());
    REQUIRE(prompt == golden["prompt_ids"].get<std::vector<int>>());
    auto expected = golden["input_ids"].get<std::vector<int>>();
    expected.push_back(golden["last_sampled_id"].get<int>());
    expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(prompt.size()));
    for (const bool cache : {true, false}) {
      const Llama2cSampler sampler(golden["temperature"], golden["topp"], golden["seed"].get<std::uint64_t>());
      const GenerateOptions options{.tokens = expected.size(), .end_token = tokenizer.end_token(), .cache = cache};
      CHECK(generate(decoder, prompt, options, Sampler(sampler)) == expected);
    }
  }
}

// The first numbers after the state 1, worked out with integers of any length.
TEST_CASE("the generator is xorshift64* and gives its upper half") {
  Llama2cRandom random(1);
  for (std::uint32_t expected : {0x47E4CE4Bu, 0xABCFA6A8u, 0xB9D10D8Fu}) CHECK(random.bits() == expected);
  for (int i = 0; i < 1000; ++i) {
    const float coin = random.uniform();
    CHECK(coin >= 0);
    CHECK(coin < 1);
    CHECK(coin * 0x1p24f == std::floor(coin * 0x1p24f));
  }
}

static std::vector<double> frequencies(const std::vector<double>& probabilities, double top_p, int draws) {
  std::vector<Real> logits;
  for (double p : probabilities) logits.push_back(static_cast<Real>(std::log(p)));
  Llama2cSampler sampler(1, top_p, 7);
  std::vector<double> share(probabilities.size());
  for (int i = 0; i < draws; ++i) share[sampler(logits)] += 1.0 / draws;
  return share;
}

TEST_CASE("llama2.c's draws have the frequencies of the softmax, and of what its top-p leaves") {
  const auto all = frequencies({0.1, 0.2, 0.3, 0.4}, 1, 200'000);
  for (int id = 0; id < 4; ++id) CHECK(std::abs(all[id] - 0.1 * (id + 1)) < 0.005);
  CHECK(frequencies({0.1, 0.2, 0.3, 0.4}, 0, 1000)[0] > 0);  // off, as there
  const auto few = frequencies({0.1, 0.2, 0.3, 0.4}, 0.6, 200'000);
  CHECK(few[0] + few[1] == 0);
  CHECK(std::abs(few[2] - 3.0 / 7) < 0.005);
  const auto equal = frequencies({0.25, 0.25, 0.25, 0.25}, 0.01, 100);
  CHECK(equal[0] == doctest::Approx(1));
}

TEST_CASE("at temperature 0 llama2.c's sampler takes the likeliest token, the lowest id on a tie") {
  Llama2cSampler sampler(0, 0.9, 1);
  CHECK(sampler(std::vector<Real>{1, 3, 2, 3}) == 1);
  CHECK(Llama2cSampler(1, 0.9, 1)(std::vector<Real>{5}) == 0);
}

TEST_CASE("settings and rows that llama2.c would not notice are refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(Llama2cSampler(1, 1, 0),
                       "llama2c_sampler: seed 0 is the one at which this generator stands still; take any other",
                       ShapeError);
  CHECK_THROWS_WITH_AS(Llama2cSampler(-1, 1, 1), "llama2c_sampler: temperature must be 0 or more and finite, not -1",
                       ShapeError);
  CHECK_THROWS_WITH_AS(Llama2cSampler(1, nan, 1), "llama2c_sampler: top_p must be between 0 and 1, not nan",
                       ShapeError);
  Llama2cSampler sampler(1, 1, 1);
  CHECK_THROWS_WITH_AS(sampler(std::vector<Real>{0, static_cast<Real>(nan)}),
                       "llama2c_sampler: the logit of token 1 is nan; has the training diverged?", ShapeError);
  CHECK_THROWS_WITH_AS(sampler({}), "llama2c_sampler: an empty row has no token to draw", ShapeError);
}
