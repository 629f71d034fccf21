// From a row of logits to the next token.
//
// Each filter is a function from a row to a row; a token that it removes gets −∞, so that no later step can draw it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "autograd/random.h"
#include "autograd/real.h"

namespace gradus::nn {

struct SamplerOptions {
  double temperature = 1;  // below 1 sharper, above 1 flatter; 0: always the most likely token
  std::size_t top_k = 0;   // only the k most likely tokens; 0: all
  double top_p = 1;        // only the most likely tokens that together reach p; 1: all

  // Errors: a value out of range, by its name.
  void validate() const;
};

// The next token: temperature, then top-k, then top-p, then one draw. Temperature 0 takes nothing from `rng`, any
// other exactly one number.
// Errors: a logit is NaN or +∞, or every logit is −∞.
int sample(std::span<const Real> logits, const SamplerOptions& options, Rng& rng);

// In double: a cumulative sum of many small probabilities would lose the last ones in float.
using LogitRow = std::vector<double>;

// (x − max x) / temperature; the shift changes no probability and keeps a tiny temperature from overflowing.
LogitRow apply_temperature(LogitRow logits, double temperature);
// Exactly k tokens stay; among equal logits those with the lowest ids. All stay if k is 0 or as large as the row.
LogitRow keep_top_k(LogitRow logits, std::size_t k);
// The most likely tokens stay, up to and with the one at which their sum reaches p, so at least one; among equal logits
// those with the lowest ids come first. All stay if p is 1.
// Holtzman, Buys, Du, Forbes, Choi, "The Curious Case of Neural Text Degeneration" (2020), section 3.1.
LogitRow keep_top_p(LogitRow logits, double p);

// exp(x − max x) / Σ exp(x − max x). Errors: as sample().
std::vector<double> softmax_row(const LogitRow& logits);
// The first token at which the cumulative probability passes `uniform`, a number in [0, 1). Never one of probability 0.
int draw(std::span<const double> probabilities, double uniform);
// The most likely token; among equal logits the one with the lowest id.
int argmax(std::span<const double> logits);

}  // namespace gradus::nn
