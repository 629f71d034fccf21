// The distributions of the next token that upstreams draw from.
#include <algorithm>
#include <cmath>

#include "nn/text/sampler.h"
#include "tests/golden/golden.h"

namespace gradus::golden {

// Whether the k-th and the next likeliest logit are equal: upstream then keeps both, and more than k tokens with them.
// Here exactly k stay, those with the lowest ids.
static bool tie_at(std::size_t k, std::vector<double> logits) {
  if (k == 0 || k >= logits.size()) return false;
  std::ranges::sort(logits, std::greater());
  return logits[k - 1] == logits[k];
}

// Upstream's probabilities with our rule: the first k of the likeliest, and as much more likely.
static std::vector<double> first_of_ties(std::vector<double> probabilities, std::size_t k) {
  std::vector<std::size_t> ids(probabilities.size());
  for (std::size_t id = 0; id < ids.size(); ++id) ids[id] = id;
  std::ranges::stable_sort(ids, std::greater(), [&](std::size_t id) { return probabilities[id]; });
  for (std::size_t i = k; i < ids.size(); ++i) probabilities[ids[i]] = 0;
  double sum = 0;
  for (double p : probabilities) sum += p;
  for (double& p : probabilities) p /= sum;
  return probabilities;
}

static bool has_equals(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return std::ranges::adjacent_find(numbers) != numbers.end();
}

static void read_cases(File& file) {
  const std::vector<int> context = file.ids("context_ids");
  for (const Case& c : cases(file)) {
    const std::string logits_name = "logits/" + c.get<std::string>("logits");
    const Tensor logits = file.tensor(logits_name);
    const std::size_t B = logits.extent(0), V = logits.extent(1), T = context.size() / B;
    const nn::SamplerOptions options{.temperature = c["temperature"],
                                     .top_k = c["top_k"],
                                     .top_p = c["top_p"],
                                     .repetition_penalty = c["repetition_penalty"]};
    for (const std::string who : {"hf", "minimind_head", "happy"}) {
      if (!c.has(who)) continue;
      const std::vector<double> all = c.numbers(who);
      for (std::size_t b = 0; b < B; ++b) {
        const auto row = logits.values().subspan(b * V, V);
        const auto ids = std::span(context).subspan(b * T, T);
        std::vector<double> ours = nn::next_distribution(row, options, ids), theirs(&all[b * V], &all[b * V] + V);
        const nn::LogitRow punished = nn::punish_repetition({row.begin(), row.end()}, ids, options.repetition_penalty);
        const std::string what = c.prefix() + who;
        const auto kept = V - static_cast<std::size_t>(std::ranges::count(ours, 0.0));
        if (tie_at(options.top_k, punished)) {
          // With top-p as well, the two rules hand it different distributions; there is nothing to compare.
          file.count_by_rule();
          if (options.top_p < 1) continue;
          file.require(kept == options.top_k, what + ": top-k must keep exactly k");
          theirs = first_of_ties(theirs, options.top_k);
        } else if (options.top_p < 1 && has_equals(punished)) {
          // Which of several equals top-p keeps is a matter of upstream's sort.
          std::ranges::sort(ours);
          std::ranges::sort(theirs);
        }
        file.compare_numbers(what, ours, theirs, probability);
      }
    }
  }
  // The rule that divided logits below 0 as well, which made their tokens more likely.
  file.by_rule_where([](const std::string& name) { return name.ends_with("_buggy_penalty"); });
}

static void read_temperature_0(File& file) {
  const Tensor logits = file.tensor("logits/plain");
  const std::size_t V = logits.extent(1);
  std::vector<double> ids;
  Rng rng(1);
  for (std::size_t b = 0; b < logits.extent(0); ++b)
    ids.push_back(nn::sample(logits.values().subspan(b * V, V), {.temperature = 0}, rng));
  file.compare("greedy/happy_temperature0", ids, exact);
}

// Our rule for top-p: the likeliest tokens up to the one with which the sum reaches p, and whether it meets p exactly.
struct TopP {
  std::vector<double> distribution;
  bool met = false;
};
static TopP up_to(double p, const std::vector<double>& probabilities) {
  std::vector<std::size_t> ids(probabilities.size());
  for (std::size_t id = 0; id < ids.size(); ++id) ids[id] = id;
  std::ranges::stable_sort(ids, std::greater(), [&](std::size_t id) { return probabilities[id]; });
  TopP result{std::vector<double>(probabilities.size())};
  double sum = 0;
  for (std::size_t i = 0; i < ids.size() && (i == 0 || sum < p); ++i) {
    sum += result.distribution[ids[i]] = probabilities[ids[i]];
    result.met = result.met || sum == p;
  }
  for (double& each : result.distribution) each /= sum;
  return result;
}

// Probabilities, powers of 2, whose sums meet p exactly or miss it by a billionth. Where they meet it, upstreams' last
// bits decide whether one more token stays; here none does. Float cannot tell such sums apart.
static void read_boundary(File& file) {
  static const std::string prefix = "boundary/top_p=";
  const Tensor logits = file.tensor("boundary/logits");
  const std::vector<double> probabilities = file.numbers("boundary/probs");
  const std::size_t B = logits.extent(0), V = logits.extent(1);
  for (const std::string& name : file.names(prefix)) {
    const double p = std::stod(name.substr(prefix.size()));
    if (!in_double) {
      file.by_rule(name);
      continue;
    }
    std::vector<double> ours, expected;
    std::vector<bool> met(B);
    for (std::size_t b = 0; b < B; ++b) {
      const std::vector<double> row = nn::next_distribution(logits.values().subspan(b * V, V), {.top_p = p});
      ours.insert(ours.end(), row.begin(), row.end());
      const TopP rule = up_to(p, {&probabilities[b * V], &probabilities[b * V] + V});
      expected.insert(expected.end(), rule.distribution.begin(), rule.distribution.end());
      met[b] = rule.met;
    }
    file.compare(name, ours, probability, [&](std::size_t i) { return !met[i / V]; });
    file.compare_numbers(name + " by our rule", ours, expected, probability);
  }
}

static void read_distributions(File& file) {
  read_cases(file);
  if (file.has("greedy/happy_temperature0")) read_temperature_0(file);
  if (file.has("boundary/logits")) read_boundary(file);
}

static const Kind distributions("sampling.distributions", read_distributions);

}  // namespace gradus::golden
