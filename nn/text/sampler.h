// From a row of logits to the next token.
//
// Each filter is a function from a row to a row; a token that it removes gets −∞, so that no later step can draw it.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "autograd/random.h"
#include "autograd/real.h"

namespace gradus::nn {

struct SamplerOptions {
  double temperature = 1;  // below 1 sharper, above 1 flatter; 0: always the most likely token
  std::size_t top_k = 0;   // only the k most likely tokens; 0: all
  double top_p = 1;        // only the most likely tokens that together reach p; 1: all
  double min_p = 0;        // only tokens at least this fraction as likely as the most likely one; 0: all
  double repetition_penalty = 1;  // above 1, tokens of the context become less likely; 1: off
  std::size_t penalty_window = 0; // only the context's last so many tokens are punished; 0: all

  // Errors: a value out of range, by its name.
  void validate() const;
};

// The next token after `context`: repetition penalty, then temperature, top-k, top-p, min-p, then one draw.
// Temperature 0 takes nothing from `rng`, any other exactly one number.
// Errors: a logit is NaN or +∞, or every logit is −∞; an id of the context that has no logit.
int sample(std::span<const Real> logits, const SamplerOptions& options, Rng& rng, std::span<const int> context = {});
// What sample() draws from, at a temperature above 0. Errors: as sample(); the temperature is 0.
std::vector<double> next_distribution(std::span<const Real> logits, const SamplerOptions& options,
                                      std::span<const int> context = {});

// Whoever chooses the next token, from a row of V logits and the ids of the text so far.
using Sampler = std::function<int(std::span<const Real> logits, std::span<const int> context)>;
// sample() with a generator of its own. Errors: an option out of range.
Sampler make_sampler(const SamplerOptions& options, const Rng& rng);
// The sampler with all ids from `count` on removed: some models have more rows than their tokenizer has tokens.
Sampler keep_first(Sampler sampler, std::size_t count);

// In double: a cumulative sum of many small probabilities would lose the last ones in float.
using LogitRow = std::vector<double>;

// x / penalty where a context token's logit x is above 0, else x · penalty: either way it sinks if the penalty is above
// 1. An id that is several times in the context is punished once.
// Keskar, McCann, Varshney, Xiong, Socher, "CTRL" (2019), section 4.1, which divides logits below 0 as well.
LogitRow punish_repetition(LogitRow logits, std::span<const int> context, double penalty);
// (x − max x) / temperature; the shift changes no probability and keeps a tiny temperature from overflowing.
LogitRow apply_temperature(LogitRow logits, double temperature);
// Exactly k tokens stay; among equal logits those with the lowest ids. All stay if k is 0 or as large as the row.
LogitRow keep_top_k(LogitRow logits, std::size_t k);
// The most likely tokens stay, up to and with the one at which their sum reaches p, so at least one; among equal logits
// those with the lowest ids come first. All stay if p is 1.
// Holtzman, Buys, Du, Forbes, Choi, "The Curious Case of Neural Text Degeneration" (2020), section 3.1.
LogitRow keep_top_p(LogitRow logits, double p);
// Tokens of at least `fraction` of the largest probability stay.
// Nguyen et al., "Turning Up the Heat: Min-p Sampling" (2024), section 3.
LogitRow keep_min_p(LogitRow logits, double fraction);

// exp(x − max x) / Σ exp(x − max x). Errors: as sample().
std::vector<double> softmax_row(const LogitRow& logits);
// The first token at which the cumulative probability passes `uniform`, a number in [0, 1). Never one of probability 0.
int draw(std::span<const double> probabilities, double uniform);
// The most likely token; among equal logits the one with the lowest id.
int argmax(std::span<const double> logits);

}  // namespace gradus::nn
