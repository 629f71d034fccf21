#include "nn/text/sampler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "autograd/error.h"

using namespace gradus;
using namespace gradus::nn;

static constexpr double inf = std::numeric_limits<double>::infinity();
static constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

static std::vector<Real> logits_of(std::vector<double> probabilities) {
  std::vector<Real> logits;
  for (double p : probabilities) logits.push_back(static_cast<Real>(std::log(p)));
  return logits;
}

static std::vector<double> frequencies(const std::vector<Real>& logits, const SamplerOptions& options, int draws) {
  Rng rng(7);
  std::vector<double> share(logits.size());
  for (int i = 0; i < draws; ++i) share[sample(logits, options, rng)] += 1.0 / draws;
  return share;
}

static std::set<int> kept(const LogitRow& row) {
  std::set<int> ids;
  for (std::size_t id = 0; id < row.size(); ++id)
    if (row[id] != -inf) ids.insert(static_cast<int>(id));
  return ids;
}

TEST_CASE("a million draws have the frequencies of the softmax") {
  const auto share = frequencies(logits_of({0.1, 0.2, 0.3, 0.4}), {}, 1'000'000);
  for (int id = 0; id < 4; ++id) CHECK(std::abs(share[id] - 0.1 * (id + 1)) < 0.002);
}

// Dividing by a temperature of 0 crashes or draws from NaN.
TEST_CASE("temperature 0 is the most likely token, the lowest id on a tie, and takes no random number") {
  Rng rng(1);
  const auto before = rng.state();
  CHECK(sample(std::vector<Real>{1, 3, 2, 3}, {.temperature = 0}, rng) == 1);
  CHECK(rng.state() == before);
}

TEST_CASE("any other temperature takes exactly one random number, whatever the filters leave") {
  for (std::size_t k : {0, 1, 2}) {
    Rng rng(1), other(1);
    sample(std::vector<Real>{1, 3, 2}, {.top_k = k}, rng);
    other.bits();
    CHECK(rng.state() == other.state());
  }
}

TEST_CASE("a temperature raises each probability to the power 1/temperature") {
  const LogitRow row = {std::log(0.2), std::log(0.8)};
  CHECK(softmax_row(apply_temperature(row, 0.5))[0] == doctest::Approx(0.04 / (0.04 + 0.64)));
  CHECK(softmax_row(apply_temperature(row, 1))[0] == doctest::Approx(0.2));
  CHECK(softmax_row(apply_temperature(row, 2))[0] == doctest::Approx(1.0 / 3));
  CHECK(softmax_row(apply_temperature(row, 1e-320))[1] == 1);
  CHECK(softmax_row(apply_temperature({1000, -inf}, 1e300))[0] == 1);
}

// A removed logit that is made small instead of −∞ is still drawn now and then.
TEST_CASE("top-k removes for good: what it drops is never drawn") {
  const auto share = frequencies({-5, -6, -7, -8}, {.top_k = 2}, 100'000);
  CHECK(std::abs(share[0] - 0.731) < 0.01);
  CHECK(std::abs(share[1] - 0.269) < 0.01);
  CHECK(share[2] == 0);
  CHECK(share[3] == 0);
}

TEST_CASE("top-k keeps exactly k tokens, among equal ones the lowest ids") {
  CHECK(kept(keep_top_k({1, 1, 1, 1, 1}, 3)) == std::set{0, 1, 2});
  CHECK(kept(keep_top_k({1, 2, 1, 2, 1}, 3)) == std::set{0, 1, 3});
  CHECK(keep_top_k({1, 4, 2}, 1) == LogitRow{-inf, 4, -inf});
  for (int draws = 0; draws < 100; ++draws) {
    Rng rng(draws);
    CHECK(sample(std::vector<Real>{1, 3, 2}, {.temperature = 5, .top_k = 1}, rng) == 1);
  }
}

TEST_CASE("top-k of 0, of the vocabulary and of more than it are no filter") {
  const LogitRow row = {1, 4, 2};
  for (std::size_t k : {0, 3, 4, 10000}) CHECK(keep_top_k(row, k) == row);
}

// Dropping the token at which the sum crosses p leaves less than p, and for a small p nothing.
TEST_CASE("top-p keeps the token that crosses p, and always one") {
  const LogitRow row = {std::log(0.5), std::log(0.41), std::log(0.09)};
  CHECK(kept(keep_top_p(row, 0.9)) == std::set{0, 1});
  CHECK(kept(keep_top_p(row, 0.91)) == std::set{0, 1});
  CHECK(kept(keep_top_p(row, 0.92)) == std::set{0, 1, 2});
  CHECK(kept(keep_top_p(row, 0.51)) == std::set{0, 1});
  CHECK(kept(keep_top_p(row, 0.5)) == std::set{0});
  CHECK(kept(keep_top_p(row, 0)) == std::set{0});
  CHECK(keep_top_p(row, 1) == row);
  CHECK(kept(keep_top_p({1, 1, 1, 1}, 0.5)) == std::set{0, 1});
}

TEST_CASE("top-p in float meets its threshold as in exact arithmetic") {
  const auto share = frequencies(logits_of({0.5, 0.41, 0.09}), {.top_p = 0.5}, 1000);
  CHECK(share[0] == doctest::Approx(1));
}

TEST_CASE("top-p weighs what top-k has left") {
  // Of 0.4, 0.3, 0.2, 0.1 top-k leaves 4/7 and 3/7: the first alone reaches a half.
  const auto share = frequencies(logits_of({0.4, 0.3, 0.2, 0.1}), {.top_k = 2, .top_p = 0.5}, 1000);
  CHECK(share[0] == doctest::Approx(1));
}

TEST_CASE("min-p keeps the tokens of at least a fraction of the largest probability, so always one") {
  const LogitRow row = {std::log(0.4), std::log(0.1), std::log(0.3), std::log(0.2)};
  CHECK(kept(keep_min_p(row, 0.5)) == std::set{0, 2, 3});
  CHECK(kept(keep_min_p(row, 0.51)) == std::set{0, 2});
  CHECK(kept(keep_min_p(row, 1)) == std::set{0});
  CHECK(keep_min_p(row, 0) == row);
  CHECK(kept(keep_min_p({1, -inf, 1}, 1e-300)) == std::set{0, 2});
}

// Dividing a logit below 0 by the penalty would make its token more likely.
TEST_CASE("the repetition penalty lowers a token of the context whatever its sign, once") {
  const LogitRow row = {2, -2, 0, 1};
  CHECK(punish_repetition(row, std::vector<int>{1, 0, 1, 2, 0}, 4) == LogitRow{0.5, -8, 0, 1});
  CHECK(punish_repetition(row, std::vector<int>{0, 1}, 1) == row);
  CHECK(punish_repetition({-inf}, std::vector<int>{0}, 2) == LogitRow{-inf});
}

TEST_CASE("the penalty's window is the context's last tokens, all of them if it is 0 or larger than the context") {
  const std::vector<Real> logits{8, 8, 8};
  const std::vector<int> context{0, 1, 2};
  const auto punished = [&](std::size_t window) {
    std::set<int> ids;
    const auto p = next_distribution(logits, {.repetition_penalty = 4, .penalty_window = window}, context);
    for (int id = 0; id < 3; ++id)
      if (p[id] < 0.1) ids.insert(id);
    return ids;
  };
  CHECK(punished(1) == std::set{2});
  CHECK(punished(2) == std::set{1, 2});
  for (std::size_t window : {0, 3, 4}) CHECK(punished(window).empty());  // all alike again
  Rng rng(1);
  CHECK(sample(logits, {.temperature = 0, .repetition_penalty = 4, .penalty_window = 2}, rng, context) == 0);
}

TEST_CASE("a sampler has a generator of its own: what others draw does not matter to it") {
  const std::vector<Real> logits{1, 3, 2, 3};
  const Sampler one = make_sampler({}, Rng(5)), two = make_sampler({}, Rng(5)), other = make_sampler({}, Rng(6));
  for (int i = 0; i < 100; ++i) {
    const int id = one(logits, {});
    other(logits, {});
    CHECK(two(logits, {}) == id);
  }
  CHECK_THROWS_AS(make_sampler({.top_p = 2}, Rng(1)), ShapeError);
}

// Some models of the Hugging Face hub have rows behind their tokenizer's last token, to a round number.
TEST_CASE("rows that stand for no token are never drawn, and the others as if those were not there") {
  const std::vector<Real> logits = {1, 2, 0, 50, 60}, known = {1, 2, 0};
  const Sampler kept = keep_first(make_sampler({}, Rng(3)), 3), plain = make_sampler({}, Rng(3));
  for (int i = 0; i < 1000; ++i) CHECK(kept(logits, {}) == plain(known, {}));
  CHECK(keep_first(make_sampler({.temperature = 0}, Rng(3)), 9)(logits, {}) == 4);
}

TEST_CASE("the repetition penalty acts at temperature 0 too") {
  Rng rng(1);
  const std::vector<Real> logits{1, 3, 2};
  const std::vector<int> context{1};
  CHECK(sample(logits, {.temperature = 0, .repetition_penalty = 2}, rng, context) == 2);
}

TEST_CASE("the penalty comes before the filters") {
  const std::vector<Real> logits{4, 3, 2};
  const std::vector<int> context{0};
  const auto after = next_distribution(logits, {.top_k = 1, .repetition_penalty = 2}, context);
  CHECK(after == std::vector<double>{0, 1, 0});
}

TEST_CASE("a draw never yields a token of probability 0, at neither end") {
  const double almost_one = 1 - 0x1p-32;
  CHECK(draw(std::vector{0.0, 0.5, 0.5, 0.0}, 0) == 1);
  CHECK(draw(std::vector{0.0, 0.5, 0.5, 0.0}, 0.5) == 2);
  CHECK(draw(std::vector{0.0, 0.5, 0.5, 0.0}, almost_one) == 2);
  CHECK(draw(std::vector{0.0, 0.5, 0.5 - 1e-9, 0.0}, almost_one) == 2);
  CHECK(draw(std::vector{0.1, 0.2, 0.3, 0.4}, 1 - 0x1p-24) == 3);
}

TEST_CASE("equal logits are drawn alike, and each filter keeps as many of them as it says") {
  const std::vector<Real> equal(5, 1);
  const auto share = frequencies(equal, {}, 100'000);
  for (double each : share) CHECK(std::abs(each - 0.2) < 0.01);
  const auto drawn = [&](const SamplerOptions& options) {
    const auto p = next_distribution(equal, options);
    return std::count_if(p.begin(), p.end(), [](double each) { return each > 0; });
  };
  CHECK(drawn({.top_k = 3}) == 3);
  CHECK(drawn({.top_p = 0.6}) == 3);
  CHECK(drawn({.top_p = 0}) == 1);
  CHECK(drawn({.min_p = 1}) == 5);
  Rng rng(1);
  CHECK(sample(equal, {.temperature = 0}, rng) == 0);
}

TEST_CASE("a token of probability 1 is drawn whatever the settings") {
  const Real impossible = static_cast<Real>(-inf);
  const std::vector<Real> logits{impossible, 2, impossible};
  Rng rng(1);
  for (const SamplerOptions& options :
       {SamplerOptions{}, {.temperature = 0}, {.temperature = 1e6}, {.top_k = 2}, {.top_p = 0}, {.top_p = 0.999},
        {.min_p = 1}, {.min_p = 1e-12}, {.repetition_penalty = 1000}})
    for (int i = 0; i < 100; ++i) CHECK(sample(logits, options, rng, std::vector<int>{1}) == 1);
}

TEST_CASE("a row without a distribution is refused, at temperature 0 too") {
  Rng rng(1);
  const Real bad = static_cast<Real>(nan_value), infinite = static_cast<Real>(inf);
  for (double temperature : {0.0, 1.0}) {
    const SamplerOptions options{.temperature = temperature};
    CHECK_THROWS_WITH_AS(sample(std::vector<Real>{0, bad}, options, rng),
                         "sampler: the logit of token 1 is nan; logits must be numbers: has the training diverged?",
                         ShapeError);
    CHECK_THROWS_WITH_AS(sample(std::vector<Real>{infinite, 0}, options, rng),
                         "sampler: the logit of token 0 is inf; logits must be numbers: has the training diverged?",
                         ShapeError);
    CHECK_THROWS_WITH_AS(sample(std::vector<Real>{-infinite, -infinite}, options, rng),
                         "sampler: none of the 2 tokens has a logit above -inf; there is nothing to draw", ShapeError);
    CHECK_THROWS_WITH_AS(sample({}, options, rng),
                         "sampler: none of the 0 tokens has a logit above -inf; there is nothing to draw", ShapeError);
  }
}

TEST_CASE("sampler options out of range are refused by name and value") {
  const auto check = [](const SamplerOptions& options, const char* what) {
    CHECK_THROWS_WITH_AS(options.validate(), what, ShapeError);
  };
  check({.temperature = -1}, "sampler: temperature must be 0 or more and finite, not -1");
  check({.temperature = nan_value}, "sampler: temperature must be 0 or more and finite, not nan");
  check({.temperature = inf}, "sampler: temperature must be 0 or more and finite, not inf");
  check({.top_k = static_cast<std::size_t>(-3)},
        "sampler: top_k must be 0 (off) or a number of tokens, not 18446744073709551613; was it negative?");
  check({.top_p = 1.5}, "sampler: top_p must be between 0 and 1, not 1.5");
  check({.top_p = -0.5}, "sampler: top_p must be between 0 and 1, not -0.5");
  check({.top_p = nan_value}, "sampler: top_p must be between 0 and 1, not nan");
  check({.min_p = -0.1}, "sampler: min_p must be between 0 and 1, not -0.1");
  check({.repetition_penalty = 0}, "sampler: repetition_penalty must be above 0 and finite, not 0; 1 is off");
  SamplerOptions{}.validate();
}
