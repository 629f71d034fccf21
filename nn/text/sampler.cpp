#include "nn/text/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "autograd/error.h"

namespace gradus::nn {

static constexpr double removed = -std::numeric_limits<double>::infinity();

void SamplerOptions::validate() const {
  expect(temperature >= 0 && std::isfinite(temperature), "sampler: temperature must be 0 or more and finite, not {}",
         temperature);
  expect(top_k <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
         "sampler: top_k must be 0 (off) or a number of tokens, not {}; was it negative?", top_k);
  expect(top_p >= 0 && top_p <= 1, "sampler: top_p must be between 0 and 1, not {}", top_p);
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

int sample(std::span<const Real> logits, const SamplerOptions& options, Rng& rng) {
  options.validate();
  LogitRow row(logits.begin(), logits.end());
  check_logits(row);
  if (options.temperature == 0) return argmax(row);

  row = apply_temperature(std::move(row), options.temperature);
  row = keep_top_k(std::move(row), options.top_k);
  row = keep_top_p(std::move(row), options.top_p);
  return draw(softmax_row(row), rng.uniform());
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
  // Logits in float know their probabilities to about a millionth: a sum that near to p has reached it.
  const double enough = p - 1e-6;
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
