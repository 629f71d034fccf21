// Writing: the model's distribution of the next token, a draw from it, and again.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "autograd/random.h"
#include "nn/decoder.h"
#include "nn/text/sampler.h"

namespace gradus::nn {

struct GenerateOptions {
  std::size_t tokens = 256;  // how many new ones at most
  SamplerOptions sampler = {};
  std::optional<int> end_token = {};  // stops after this one
  bool cache = true;                  // keep keys and values of what was read; the text is the same without
};

// The new ids; an end token, if it came, is the last. `on_token` is called with each as soon as it is drawn.
// A text longer than the context is continued from its last context_length tokens, read as if they began at position 0.
// Errors: an empty prompt; ids outside the vocabulary; sampler settings that make no sense.
std::vector<int> generate(const Decoder& decoder, std::span<const int> prompt, const GenerateOptions& options, Rng& rng,
                          const std::function<void(int)>& on_token = {});

}  // namespace gradus::nn
