#include "autograd/ops/attention.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/repeat_heads.h"
#include "autograd/ops/reshape.h"
#include "autograd/parallel.h"

using namespace gradus;

namespace {

const double tolerance = sizeof(Real) == 8 ? 1e-12 : 2e-5;

double largest_difference(std::span<const Real> a, std::span<const Real> b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = difference <= largest ? largest : difference;  // a NaN stays
  }
  return largest;
}

struct Problem {
  std::size_t B, T, S, H, G, D;
  Tensor query, key, value, cotangent, bias;

  Problem(std::size_t b, std::size_t t, std::size_t s, std::size_t h, std::size_t g, std::size_t d)
      : B(b), T(t), S(s), H(h), G(g), D(d) {
    Rng rng(b + 10 * t + 100 * s + 1000 * h + 10000 * g);
    query = random_uniform({B, T, H * D}, rng, -2, 2).set_requires_grad();
    key = random_uniform({B, S, G * D}, rng, -2, 2).set_requires_grad();
    value = random_uniform({B, S, G * D}, rng).set_requires_grad();
    cotangent = random_uniform({B, T, H * D}, rng);
    bias = random_uniform({B, H, T, S}, rng, -2, 2).set_requires_grad();
  }

  Tensor fused(std::span<const int> valid = {}, const AttentionExtras& extras = {}) const {
    return attention(query, key, value, {H, G}, valid, extras);
  }
  AttentionResult composed(std::span<const int> valid = {}, const AttentionExtras& extras = {}) const {
    return attention_composed(query, key, value, {H, G}, valid, extras);
  }

  // The gradients of query, key, value and, where there is one, bias, one after the other.
  std::vector<Real> gradients(const Tensor& y) {
    y.backward(cotangent);
    std::vector<Real> all;
    for (Tensor* x : {&query, &key, &value, &bias}) {
      all.insert(all.end(), x->grad().begin(), x->grad().end());
      x->clear_grad();
    }
    return all;
  }
};

// Padding before, after and between the tokens, and a sequence of nothing else.
std::vector<int> padded(std::size_t B, std::size_t S) {
  std::vector<int> valid(B * S, 1);
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t s = 0; s < S; ++s) {
      const bool padding = b % 4 == 0 ? s < S / 2 : b % 4 == 1 ? s > S / 2 : b % 4 == 2 ? s % 3 == 1 : true;
      valid[b * S + s] = padding ? 0 : 1;
    }
  return valid;
}

}  // namespace

// 0 … S keys for each query.
static std::vector<int> numbers_of_keys(std::size_t queries, std::size_t S) {
  Rng rng(queries + S);
  std::vector<int> visible(queries);
  for (int& keys : visible) keys = static_cast<int>(rng.below(S + 1));
  return visible;
}

TEST_CASE("fused attention equals its composition, in value and gradients, with every mask, bias and dropout") {
  const std::size_t shapes[][6] = {{1, 1, 1, 1, 1, 1},    {2, 3, 3, 2, 1, 2},    {4, 5, 5, 4, 2, 3},
                                   {4, 5, 8, 4, 4, 2},    {4, 1, 7, 4, 1, 5},    {1, 31, 31, 2, 2, 4},
                                   {1, 32, 32, 2, 1, 4},  {2, 33, 33, 2, 1, 4},  {4, 70, 75, 4, 2, 8},
                                   {1, 130, 130, 1, 1, 3}, {4, 40, 333, 2, 1, 16}};
  for (const auto& [B, T, S, H, G, D] : shapes)
    for (const bool with_padding : {false, true})
      for (const bool with_visible : {false, true})
        for (const bool with_bias : {false, true})
          for (const double p : {0.0, 0.3}) {
            const std::string shape = message("B {}, T {}, S {}, H {}, G {}, D {}", B, T, S, H, G, D);
            INFO(shape, ", padding ", with_padding, ", visible ", with_visible, ", bias ", with_bias, ", dropout ", p);
            Problem problem(B, T, S, H, G, D);
            const std::vector<int> valid = with_padding ? padded(B, S) : std::vector<int>{};
            const std::vector<int> visible = with_visible ? numbers_of_keys(B * T, S) : std::vector<int>{};
            Rng fused_rng(6), composed_rng(6);
            AttentionExtras extras{.dropout = p, .rng = &fused_rng, .visible = visible};
            if (with_bias) extras.bias = problem.bias;
            const Tensor fused = problem.fused(valid, extras);
            extras.rng = &composed_rng;
            const Tensor composed = problem.composed(valid, extras).output;
            CHECK(fused_rng.state() == composed_rng.state());
            CHECK(largest_difference(fused.values(), composed.values()) < tolerance);
            CHECK(largest_difference(problem.gradients(fused), problem.gradients(composed)) < 10 * tolerance);
          }
}

TEST_CASE("a bias of −∞ hides a key as a mask does, and a row of nothing else gives zeros and zero gradient") {
  Problem problem(2, 3, 3, 2, 1, 2);
  const std::vector<int> valid{1, 0, 1, 0, 0, 0};
  for (std::size_t i = 0; i < problem.bias.size(); ++i)
    problem.bias.mutable_values()[i] = valid[i / 18 * 3 + i % 3] == 1 ? 0 : -std::numeric_limits<Real>::infinity();
  const Tensor masked = problem.fused(valid);
  const std::vector<Real> gradients = problem.gradients(masked);
  const AttentionExtras extras{.bias = problem.bias};
  for (const Tensor& y : {problem.fused({}, extras), problem.composed({}, extras).output}) {
    CHECK(largest_difference(y.values(), masked.values()) < tolerance);
    const std::vector<Real> biased = problem.gradients(y);
    CHECK(largest_difference(std::span(biased).first(gradients.size()), gradients) < tolerance);
  }
}

TEST_CASE("keys that no query sees are not read") {
  Problem problem(2, 3, 6, 2, 1, 4);
  const std::vector<int> visible{2, 3, 4, 1, 0, 3};
  const Tensor before = problem.fused({}, {.visible = visible});
  for (Tensor* x : {&problem.key, &problem.value})
    for (std::size_t b = 0; b < 2; ++b)
      std::ranges::fill(x->mutable_values().subspan((b * 6 + 4 - b) * 4, (2 + b) * 4),
                        std::numeric_limits<Real>::quiet_NaN());
  CHECK(largest_difference(problem.fused({}, {.visible = visible}).values(), before.values()) == 0);
}

TEST_CASE("dropout on the weights keeps the mean of the output, and draws nothing at 0") {
  const Tensor query = Tensor::zeros({1, 1, 1}), key = Tensor::zeros({1, 20000, 1});
  const Tensor value = Tensor::full({1, 20000, 1}, 1);
  Rng rng(3);
  const double y = static_cast<double>(attention(query, key, value, {1, 1}, {}, {.dropout = 0.5, .rng = &rng}).item());
  CHECK(y != doctest::Approx(1).epsilon(1e-5));
  CHECK(y == doctest::Approx(1).epsilon(5 / std::sqrt(20000.0)));
  const Rng::State before = rng.state();
  CHECK(attention(query, key, value, {1, 1}, {}, {.dropout = 0, .rng = &rng}).item() ==
        attention(query, key, value, {1, 1}).item());
  CHECK(rng.state() == before);
}

TEST_CASE("fused attention is the same on every number of threads") {
  const std::size_t threads = thread_count();
  Problem problem(3, 70, 70, 4, 2, 16);
  set_thread_count(1);
  const auto dropped = [&] {
    Rng rng(8);
    return problem.fused({}, {.bias = problem.bias, .dropout = 0.2, .rng = &rng});
  };
  const Tensor alone = dropped();
  const std::vector<Real> alone_gradients = problem.gradients(alone);
  for (const std::size_t count : {2, 3, 7, 16}) {
    set_thread_count(count);
    const Tensor y = dropped();
    CHECK(largest_difference(y.values(), alone.values()) < tolerance);
    CHECK(largest_difference(problem.gradients(y), alone_gradients) < tolerance);
  }
  set_thread_count(threads);
}

TEST_CASE("the weights of attention sum to 1, or to 0 where a query sees no token") {
  const Problem problem(4, 5, 8, 2, 1, 3);
  const std::vector<int> valid = padded(4, 8);
  const Tensor weights = problem.composed(valid).weights;
  CHECK(weights.shape() == Shape{4, 2, 5, 8});
  for (std::size_t row = 0; row < 4 * 2 * 5; ++row) {
    const std::size_t b = row / 10, visible = 8 - 5 + row % 5 + 1;
    double sum = 0;
    for (std::size_t s = 0; s < 8; ++s) {
      sum += static_cast<double>(weights.values()[row * 8 + s]);
      if (s >= visible || valid[b * 8 + s] == 0) CHECK(weights.values()[row * 8 + s] == 0);
    }
    const auto first = valid.begin() + b * 8;
    const bool sees_token = std::find(first, first + visible, 1) != first + visible;
    CHECK(sum == doctest::Approx(sees_token ? 1 : 0));
  }
}

TEST_CASE("attention at a position does not depend on later positions") {
  for (const std::size_t B : {1, 3}) {
    Problem problem(B, 70, 75, 4, 2, 4);
    const Tensor before = problem.fused(), before_composed = problem.composed().output;
    constexpr std::size_t kept = 66;  // positions; of these the last 61 are queries
    for (std::size_t b = 0; b < B; ++b) {
      std::ranges::fill(problem.query.mutable_values().subspan((b * 70 + kept - 5) * 16, (75 - kept) * 16), Real{3});
      std::ranges::fill(problem.key.mutable_values().subspan((b * 75 + kept) * 8, (75 - kept) * 8), Real{3});
      std::ranges::fill(problem.value.mutable_values().subspan((b * 75 + kept) * 8, (75 - kept) * 8), Real{3});
    }
    const Tensor after = problem.fused(), after_composed = problem.composed().output;
    for (std::size_t b = 0; b < B; ++b) {
      const std::size_t from = b * 70 * 16, count = (kept - 5) * 16;
      CHECK(largest_difference(before.values().subspan(from, count), after.values().subspan(from, count)) == 0);
      CHECK(largest_difference(before_composed.values().subspan(from, count),
                               after_composed.values().subspan(from, count)) < tolerance);
      const auto changed = [&](const Tensor& y) { return y.values().subspan(from + count, 16); };
      CHECK(largest_difference(changed(before), changed(after)) > 0.1);
    }
  }
}

// The mapping h mod n_kv_heads gives 1, 2, 1, 2 instead.
TEST_CASE("neighbouring query heads share a key and value head") {
  const Tensor query = Tensor::full({1, 1, 4}, 1), key = Tensor::full({1, 1, 2}, 1);
  const Tensor value({1, 1, 2}, {1, 2});
  for (const Tensor& y : {attention(query, key, value, {4, 2}), attention_composed(query, key, value, {4, 2}).output})
    CHECK(largest_difference(y.values(), Tensor({4}, {1, 1, 2, 2}).values()) == 0);
}

TEST_CASE("grouped heads equal as many heads with keys and values repeated, in value and gradients") {
  const std::size_t heads[][2] = {{4, 4}, {4, 2}, {4, 1}, {6, 3}};
  for (const auto& [H, G] : heads) {
    Problem problem(2, 5, 7, H, G, 3);
    const auto repeated = [&, n = H / G, groups = G](const Tensor& x) {
      return reshape(repeat_heads(reshape(x, {2, 7, groups, 3}), n), {2, 7, n * groups * 3});
    };
    const Tensor grouped = problem.fused();
    const Tensor whole = attention(problem.query, repeated(problem.key), repeated(problem.value), {H, H});
    CHECK(largest_difference(grouped.values(), whole.values()) < tolerance);
    CHECK(largest_difference(problem.gradients(grouped), problem.gradients(whole)) < 10 * tolerance);
  }
}

TEST_CASE("scores are divided by the square root of the head's width") {
  const Tensor query({1, 1, 4}, {2, 0, 0, 0});
  const Tensor key({1, 2, 4}, {2, 0, 0, 0, 0, 0, 0, 0}), value({1, 2, 4}, {1, 0, 0, 0, 0, 1, 0, 0});
  const AttentionResult composed = attention_composed(query, key, value, {1, 1});
  for (const Tensor& y : {composed.weights, composed.output, attention(query, key, value, {1, 1})}) {
    CHECK(y.values()[0] == doctest::Approx(0.880797).epsilon(1e-6));
    CHECK(y.values()[1] == doctest::Approx(0.119203).epsilon(1e-5));
  }
}

TEST_CASE("padding never changes a token's attention, and gets no gradient") {
  const std::vector<int> valid = padded(4, 9);
  Problem problem(4, 9, 9, 2, 1, 4);
  const Tensor before = problem.fused(valid);
  const std::vector<Real> gradients_before = problem.gradients(before);
  for (std::size_t i = 0; i < valid.size(); ++i)
    if (valid[i] == 0)
      for (std::size_t d = 0; d < 4; ++d) {
        problem.key.mutable_values()[i * 4 + d] = 50;
        problem.value.mutable_values()[i * 4 + d] = -1000;
      }
  const Tensor after = problem.fused(valid);
  CHECK(largest_difference(before.values(), after.values()) == 0);
  CHECK(largest_difference(before.values(), problem.composed(valid).output.values()) < tolerance);
  const std::vector<Real> gradients = problem.gradients(after);
  CHECK(largest_difference(gradients_before, gradients) == 0);
  for (std::size_t i = 0; i < valid.size(); ++i)
    for (std::size_t d = 0; valid[i] == 0 && d < 4; ++d) {
      CHECK(gradients[problem.query.size() + i * 4 + d] == 0);
      CHECK(gradients[problem.query.size() + problem.key.size() + i * 4 + d] == 0);
    }
}

TEST_CASE("prompts padded on the left attend as they do alone") {
  Problem batch(2, 6, 6, 2, 1, 4), alone(1, 4, 4, 2, 1, 4);
  std::ranges::copy(batch.query.values().subspan(2 * 8, 4 * 8), alone.query.mutable_values().begin());
  std::ranges::copy(batch.key.values().subspan(2 * 4, 4 * 4), alone.key.mutable_values().begin());
  std::ranges::copy(batch.value.values().subspan(2 * 4, 4 * 4), alone.value.mutable_values().begin());
  const std::vector<int> valid = {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (const Tensor& y : {batch.fused(valid), batch.composed(valid).output}) {
    CHECK(largest_difference(y.values().subspan(2 * 8, 4 * 8), alone.fused().values()) < tolerance);
    for (const Real number : y.values().first(2 * 8)) CHECK(number == 0);
  }
}

// An average over padding, with equal weights, is what a large finite number in place of −∞ gives.
TEST_CASE("a query that sees no token gives zeros and zero gradient, whatever the scores") {
  const std::vector<int> valid(2 * 3, 0);
  for (const double size : {1.0, 1e10}) {
    Problem problem(2, 3, 3, 2, 2, 2);
    for (Tensor* x : {&problem.query, &problem.key})
      for (Real& number : x->mutable_values()) number = static_cast<Real>(size) * number;
    const Tensor y = problem.fused(valid);
    for (const Real number : y.values()) CHECK(number == 0);
    for (const Real number : problem.gradients(y)) CHECK(number == 0);
  }
}

TEST_CASE("scores too large for an exponential make attention choose, not overflow") {
  const Tensor query({1, 1, 1}, {1000}), key({1, 3, 1}, {-1, 1, 0}), value({1, 3, 1}, {5, 6, 7});
  CHECK(attention(query, key, value, {1, 1}).item() == 6);
}

TEST_CASE("a NaN in a visible key is not hidden") {
  Tensor key = Tensor::full({1, 3, 2}, 1);
  key.mutable_values()[0] = std::numeric_limits<Real>::quiet_NaN();
  const Tensor y = attention(Tensor::full({1, 3, 2}, 1), key, Tensor::full({1, 3, 2}, 1), {1, 1});
  for (const Real number : y.values()) CHECK(std::isnan(number));
}

TEST_CASE("one tensor may be query, key and value") {
  Problem problem(2, 5, 5, 2, 2, 3);
  const Tensor x = problem.query;
  problem.key = Tensor(x.shape(), x.values()).set_requires_grad();
  problem.value = Tensor(x.shape(), x.values()).set_requires_grad();
  const std::vector<Real> apart = problem.gradients(problem.fused());
  attention(x, x, x, {2, 2}).backward(problem.cotangent);
  std::vector<Real> sum(x.size());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = apart[i] + apart[sum.size() + i] + apart[2 * sum.size() + i];
  CHECK(largest_difference(x.grad(), sum) < tolerance);
}

TEST_CASE("attention refuses what does not fit, and says the numbers") {
  const Tensor x({2, 3, 12});
  CHECK_THROWS_WITH_AS(attention(x, x, x, {4, 3}),
                       "attention: n_heads 4 must be a multiple of n_kv_heads 3, so that every key and value head "
                       "serves as many query heads", ShapeError);
  CHECK_THROWS_WITH_AS(attention_composed(x, x, x, {4, 0}),
                       "attention_composed: n_heads 4 must be a multiple of n_kv_heads 0, so that every key and value "
                       "head serves as many query heads", ShapeError);
  CHECK_THROWS_WITH_AS(attention(Tensor({3, 12}), x, x, {4, 4}),
                       "attention: query (3, 12) must be (B, T, H·D) and key (2, 3, 12) must be (B, S, G·D); reshape "
                       "them to three axes", ShapeError);
  CHECK_THROWS_WITH_AS(attention(x, x, x, {5, 5}),
                       "attention: the last axis of query (2, 3, 12) must be a multiple of n_heads 5", ShapeError);
  CHECK_THROWS_WITH_AS(attention(x, x, x, {4, 2}),
                       "attention: key (2, 3, 12) does not fit query (2, 3, 12): with 4 heads and 2 key and value "
                       "heads of 3 numbers it must be (2, 3, 6)", ShapeError);
  CHECK_THROWS_WITH_AS(attention(x, x, Tensor({2, 4, 12}), {4, 4}),
                       "attention: value (2, 4, 12) must have the shape of key (2, 3, 12)", ShapeError);
  CHECK_THROWS_WITH_AS(attention(x, Tensor({2, 2, 12}), Tensor({2, 2, 12}), {4, 4}),
                       "attention: key (2, 2, 12) has fewer positions than query (2, 3, 12); keys are those of the "
                       "past and of the queries themselves", ShapeError);
  CHECK_THROWS_WITH_AS(attention(x, x, x, {4, 4}, std::vector<int>(5, 1)),
                       "attention: valid has 5 numbers and must have one for each key: 2 sequences of 3 are 6",
                       ShapeError);
  for (const int not_a_mask : {-1000000000, -1, 2})
    CHECK_THROWS_WITH_AS(attention(x, x, x, {4, 4}, std::vector<int>(6, not_a_mask)),
                         "attention: valid must hold 1 for a token and 0 for padding, nothing else; numbers to be "
                         "added to the scores are another argument, bias",
                         ShapeError);
  CHECK_THROWS_WITH_AS(attention(x, x, x, {4, 4}, {}, {.bias = Tensor({3, 3})}),
                       "attention: bias (3, 3) must have a number for each score, (B, H, T, S) = (2, 4, 3, 3); nothing "
                       "is broadcast",
                       ShapeError);
  CHECK_THROWS_WITH_AS(attention(x, x, x, {4, 4}, {}, {.dropout = 1}),
                       "attention: dropout must be at least 0 and below 1, not 1", ShapeError);
  const std::vector<int> visible{1, 2, 3, 1, 2, 4};
  CHECK_THROWS_WITH_AS(attention(x, x, x, {4, 4}, {}, {.visible = std::span(visible).first(5)}),
                       "attention: visible has 5 numbers and must have one for each query: 2 sequences of 3 are 6",
                       ShapeError);
  CHECK_THROWS_WITH_AS(attention(x, x, x, {4, 4}, {}, {.visible = visible}),
                       "attention: a query cannot see 4 keys; there are 3", ShapeError);
}
