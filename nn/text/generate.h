// Writing: the model's distribution of the next token, a draw from it, and again.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "autograd/random.h"
#include "nn/language_model.h"
#include "nn/text/sampler.h"

namespace gradus::nn {

struct GenerateOptions {
  std::size_t tokens = 256;  // how many new ones at most
  SamplerOptions sampler = {};
  std::optional<int> end_token = {};      // the text ends with this one
  std::vector<int> more_end_tokens = {};  // or with one of these, where a model has several
  bool ignore_end = false;                // writes on behind them
  std::function<bool(std::size_t row)> stop = {};  // asked behind each new token of a row; true: its text ends there
  bool cache = true;  // keep keys and values of what was read; the text is the same without

  bool ends_with(int id) const;  // whether a text ends with this token
};

// The new ids; an end token, if it came, is the last. `on_token` is called with each as soon as it is drawn.
// A text longer than the context is continued from its last context_length tokens, read as if they began at position 0.
// Errors: an empty prompt; ids outside the vocabulary; sampler settings that make no sense.
std::vector<int> generate(const LanguageModel& model, std::span<const int> prompt, const GenerateOptions& options, Rng& rng,
                          const std::function<void(int)>& on_token = {});
// The same with a sampler of one's own in place of options.sampler.
std::vector<int> generate(const LanguageModel& model, std::span<const int> prompt, const GenerateOptions& options,
                          const Sampler& sampler, const std::function<void(int)>& on_token = {});

// Several texts at once, of any lengths: each step reads one token of every row, in matrix products of as many rows.
// Row r is continued by samplers[r]; its text does not depend on its neighbours, and leaves the batch when it ends.
// Errors: as generate(), with the row; another number of samplers.
std::vector<std::vector<int>> generate_batch(const LanguageModel& model, std::span<const std::vector<int>> prompts,
                                             const GenerateOptions& options, std::span<const Sampler> samplers,
                                             const std::function<void(std::size_t row, int id)>& on_token = {});

}  // namespace gradus::nn
