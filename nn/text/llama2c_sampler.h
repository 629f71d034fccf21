// The draws of the llama2.c project, number for number: the same model, seed and settings write the same text as there.
//
// Everything is done in float and in its order, because a sum that rounds otherwise sooner or later draws otherwise.
#pragma once

#include <cstdint>
#include <span>

#include "autograd/real.h"

namespace gradus::nn {

// A xorshift* generator of 64 bits: Marsaglia, "Xorshift RNGs" (2003); Vigna, "An experimental exploration of
// Marsaglia's xorshift generators, scrambled" (2016).
class Llama2cRandom {
 public:
  explicit Llama2cRandom(std::uint64_t seed);  // errors: 0, at which the generator stands still
  std::uint32_t bits();
  float uniform();  // [0, 1), a multiple of 2⁻²⁴

 private:
  std::uint64_t state_;
};

// A Sampler (nn/text/sampler.h). Temperature 0: the likeliest token, the lowest id on a tie, and nothing is drawn.
// top_p between 0 and 1: the likeliest tokens up to the one at which their sum passes it; 0 and 1: all tokens.
class Llama2cSampler {
 public:
  // Errors: temperature below 0 or not finite; top_p outside 0 … 1; seed 0.
  Llama2cSampler(double temperature, double top_p, std::uint64_t seed);
  // Errors: a logit is not finite.
  int operator()(std::span<const Real> logits, std::span<const int> context = {});

 private:
  float temperature_, top_p_;
  Llama2cRandom random_;
};

}  // namespace gradus::nn
