#include "nn/text/generate.h"

#include <algorithm>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/ops/slice.h"

namespace gradus::nn {

// (V): the logits for the token after the last of `ids`. Only that one row goes through the head.
static Tensor next_logits(const Decoder& decoder, std::span<const int> ids) {
  const std::span<const int> window = ids.last(std::min(ids.size(), decoder.config.context_length));
  const Tensor h = decoder.hidden(window, 1);
  return decoder.logits(slice(h, 1, window.size() - 1, window.size()));
}

std::vector<int> generate(const Decoder& decoder, std::span<const int> prompt, const GenerateOptions& options, Rng& rng,
                          const std::function<void(int)>& on_token) {
  expect(!prompt.empty(), "generate: the prompt is empty; there must be at least one token to continue");
  options.sampler.validate();
  const NoGrad guard;
  std::vector<int> ids(prompt.begin(), prompt.end());
  for (std::size_t i = 0; i < options.tokens; ++i) {
    const int id = sample(next_logits(decoder, ids).values(), options.sampler, rng, ids);
    ids.push_back(id);
    if (on_token) on_token(id);
    if (id == options.end_token) break;
  }
  return {ids.begin() + static_cast<std::ptrdiff_t>(prompt.size()), ids.end()};
}

}  // namespace gradus::nn
