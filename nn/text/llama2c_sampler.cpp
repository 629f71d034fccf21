#include "nn/text/llama2c_sampler.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "autograd/error.h"

namespace gradus::nn {

Llama2cRandom::Llama2cRandom(std::uint64_t seed) : state_(seed) {
  expect(seed != 0, "llama2c_sampler: seed 0 is the one at which this generator stands still; take any other");
}

std::uint32_t Llama2cRandom::bits() {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  return static_cast<std::uint32_t>((state_ * 0x2545F4914F6CDD1DULL) >> 32);
}

float Llama2cRandom::uniform() { return static_cast<float>(bits() >> 8) * 0x1p-24f; }

Llama2cSampler::Llama2cSampler(double temperature, double top_p, std::uint64_t seed)
    : temperature_(static_cast<float>(temperature)), top_p_(static_cast<float>(top_p)), random_(seed) {
  expect(temperature >= 0 && std::isfinite(temperature_),
         "llama2c_sampler: temperature must be 0 or more and finite, not {}", temperature);
  expect(top_p >= 0 && top_p <= 1, "llama2c_sampler: top_p must be between 0 and 1, not {}", top_p);
}

static void softmax_in_place(std::vector<float>& x) {
  const float largest = std::ranges::max(x);
  float sum = 0;
  for (float& value : x) sum += value = std::exp(value - largest);
  for (float& value : x) value /= sum;
}

namespace {

struct Candidate {
  float probability;
  int id;
};

}  // namespace

// The first candidate at which the running sum passes `threshold`; the last one if rounding keeps it below.
static std::size_t first_above(std::span<const Candidate> candidates, float threshold) {
  float sum = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (sum += candidates[i].probability; sum > threshold) return i;
  return candidates.size() - 1;
}

// What together cannot have more than 1 − top_p is left out before the sort, for speed.
static std::vector<Candidate> likeliest(std::span<const Candidate> all, float top_p) {
  const float negligible = (1 - top_p) / static_cast<float>(all.size() - 1);
  std::vector<Candidate> kept;
  for (const Candidate& candidate : all)
    if (candidate.probability >= negligible) kept.push_back(candidate);
  if (kept.empty()) return {*std::ranges::max_element(all, {}, &Candidate::probability)};
  std::ranges::stable_sort(kept, std::ranges::greater(), &Candidate::probability);
  kept.resize(first_above(kept, top_p) + 1);
  return kept;
}

int Llama2cSampler::operator()(std::span<const Real> logits, std::span<const int>) {
  expect(!logits.empty(), "llama2c_sampler: an empty row has no token to draw");
  for (std::size_t id = 0; id < logits.size(); ++id)
    expect(std::isfinite(logits[id]), "llama2c_sampler: the logit of token {} is {}; has the training diverged?", id,
           logits[id]);
  std::vector<float> row(logits.begin(), logits.end());
  if (temperature_ == 0) return static_cast<int>(std::ranges::max_element(row) - row.begin());

  for (float& logit : row) logit /= temperature_;
  softmax_in_place(row);
  std::vector<Candidate> candidates;
  for (std::size_t id = 0; id < row.size(); ++id) candidates.push_back({row[id], static_cast<int>(id)});
  const float coin = random_.uniform();
  if (top_p_ == 0 || top_p_ == 1 || row.size() == 1) return candidates[first_above(candidates, coin)].id;

  candidates = likeliest(candidates, top_p_);
  float sum = 0;
  for (const Candidate& candidate : candidates) sum += candidate.probability;
  return candidates[first_above(candidates, coin * sum)].id;
}

}  // namespace gradus::nn
