#include "nn/text/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "autograd/error.h"

namespace gradus::nn {

// Logits in float know their probabilities to about a millionth.
static constexpr double slack = sizeof(Real) == sizeof(float) ? 1e-6 : 1e-12;
static constexpr double removed = -std::numeric_limits<double>::infinity();

void SamplerOptions::validate() const {
  expect(temperature >= 0 && std::isfinite(temperature), "sampler: temperature must be 0 or more and finite, not {}",
         temperature);
  expect(top_k <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
         "sampler: top_k must be 0 (off) or a number of tokens, not {}; was it negative?", top_k);
  expect(top_p >= 0 && top_p <= 1, "sampler: top_p must be between 0 and 1, not {}", top_p);
  expect(min_p >= 0 && min_p <= 1, "sampler: min_p must be between 0 and 1, not {}", min_p);
  expect(repetition_penalty > 0 && std::isfinite(repetition_penalty),
         "sampler: repetition_penalty must be above 0 and finite, not {}; 1 is off", repetition_penalty);
}

static void check_logits(std::span<const double> logits) {
  bool any = false;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    expect(!std::isnan(logits[id]) && logits[id] != -removed,
           "sampler: the logit of token {} is {}; logits must be numbers: has the training diverged?", id, logits[id]);
    any |= logits[id] != removed;
  }
  expect(any, "sampler: none of the {} tokens has a logit above -inf; there is nothing to draw", logits.size());
}

static LogitRow punished_row(std::span<const Real> logits, const SamplerOptions& options,
                             std::span<const int> context) {
  options.validate();
  LogitRow row(logits.begin(), logits.end());
  check_logits(row);
  const std::size_t punished = options.penalty_window == 0 ? context.size() : options.penalty_window;
  return punish_repetition(std::move(row), context.last(std::min(punished, context.size())),
                           options.repetition_penalty);
}

static std::vector<double> distribution_of(LogitRow row, const SamplerOptions& options) {
  row = apply_temperature(std::move(row), options.temperature);
  row = keep_top_k(std::move(row), options.top_k);
  row = keep_top_p(std::move(row), options.top_p);
  row = keep_min_p(std::move(row), options.min_p);
  return softmax_row(row);
}

int sample(std::span<const Real> logits, const SamplerOptions& options, Rng& rng, std::span<const int> context) {
  LogitRow row = punished_row(logits, options, context);
  if (options.temperature == 0) return argmax(row);
  return draw(distribution_of(std::move(row), options), rng.uniform());
}

std::vector<double> next_distribution(std::span<const Real> logits, const SamplerOptions& options,
                                      std::span<const int> context) {
  expect(options.temperature != 0, "sampler: at temperature 0 there is no distribution, only the most likely token");
  return distribution_of(punished_row(logits, options, context), options);
}

Sampler make_sampler(const SamplerOptions& options, const Rng& rng) {
  options.validate();
  return [options, own = rng](std::span<const Real> logits, std::span<const int> context) mutable {
    return sample(logits, options, own, context);
  };
}

Sampler keep_first(Sampler sampler, std::size_t count) {
  return [sampler = std::move(sampler), count](std::span<const Real> logits, std::span<const int> context) {
    return sampler(logits.first(std::min(count, logits.size())), context);
  };
}

LogitRow punish_repetition(LogitRow logits, std::span<const int> context, double penalty) {
  if (penalty == 1) return logits;
  std::vector<bool> punished(logits.size());
  for (int id : context) {
    expect(id >= 0 && static_cast<std::size_t>(id) < logits.size(),
           "sampler: token {} of the context is not among the {} of the logits", id, logits.size());
    if (punished[id]) continue;
    punished[id] = true;
    logits[id] = logits[id] > 0 ? logits[id] / penalty : logits[id] * penalty;
  }
  return logits;
}

LogitRow apply_temperature(LogitRow logits, double temperature) {
  const double largest = logits[argmax(logits)];
  for (double& logit : logits) logit = (logit - largest) / temperature;
  return logits;
}

// The ids of a row in no order yet, and the order in which filters prefer them.
static std::vector<int> all_ids(const LogitRow& logits) {
  std::vector<int> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}
static auto more_likely(const LogitRow& logits) {
  return [&logits](int a, int b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; };
}

LogitRow keep_top_k(LogitRow logits, std::size_t k) {
  if (k == 0 || k >= logits.size()) return logits;
  std::vector<int> ids = all_ids(logits);
  const auto end_of_kept = ids.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(ids.begin(), end_of_kept, ids.end(), more_likely(logits));
  for (auto id = end_of_kept; id != ids.end(); ++id) logits[*id] = removed;
  return logits;
}

LogitRow keep_top_p(LogitRow logits, double p) {
  if (p >= 1) return logits;
  const double enough = p - slack;  // a sum that near to p has reached it
  const std::vector<double> probabilities = softmax_row(logits);
  // A heap yields the likeliest few of many tokens without sorting the others.
  std::vector<int> rest = all_ids(logits);
  const auto less_likely = [order = more_likely(logits)](int a, int b) { return order(b, a); };
  std::make_heap(rest.begin(), rest.end(), less_likely);
  double sum = 0;
  do {
    std::pop_heap(rest.begin(), rest.end(), less_likely);
    sum += probabilities[rest.back()];
    rest.pop_back();
  } while (sum < enough && !rest.empty());
  for (int id : rest) logits[id] = removed;
  return logits;
}

// p / max p = exp(x − max x), so no sum is needed.
LogitRow keep_min_p(LogitRow logits, double fraction) {
  if (fraction == 0) return logits;
  const double largest = logits[argmax(logits)];
  for (double& logit : logits)
    if (std::exp(logit - largest) < fraction * (1 - slack)) logit = removed;
  return logits;
}

std::vector<double> softmax_row(const LogitRow& logits) {
  check_logits(logits);
  const double largest = logits[argmax(logits)];
  std::vector<double> probabilities(logits.size());
  double sum = 0;
  for (std::size_t id = 0; id < logits.size(); ++id) sum += probabilities[id] = std::exp(logits[id] - largest);
  for (double& probability : probabilities) probability /= sum;
  return probabilities;
}

int draw(std::span<const double> probabilities, double uniform) {
  double cumulative = 0;
  int last_possible = 0;
  for (std::size_t id = 0; id < probabilities.size(); ++id) {
    cumulative += probabilities[id];
    if (uniform < cumulative) return static_cast<int>(id);
    if (probabilities[id] > 0) last_possible = static_cast<int>(id);
  }
  return last_possible;  // rounding can leave the sum just below 1
}

int argmax(std::span<const double> logits) {
  expect(!logits.empty(), "sampler: an empty row has no most likely token");
  return static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace gradus::nn
