#include "nn/text/generate.h"

#include <algorithm>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/ops/slice.h"
#include "nn/kv_cache.h"

namespace gradus::nn {

// (V): the logits for the token after the last of `ids`. Only that one row goes through the head, and with a cache only
// the tokens that it does not have yet go through the layers. Once the text is longer than the context, every token
// moves to another position with each step, and a cache can save nothing.
static Tensor next_logits(const Decoder& decoder, std::span<const int> ids, KVCache* cache) {
  const std::size_t context = decoder.config.context_length;
  if (ids.size() > context) cache = nullptr;
  const std::span<const int> unread =
      cache != nullptr ? ids.subspan(cache->length(0)) : ids.last(std::min(ids.size(), context));
  const Tensor h = decoder.hidden(unread, 1, {.cache = cache});
  return decoder.logits(slice(h, 1, unread.size() - 1, unread.size()));
}

std::vector<int> generate(const Decoder& decoder, std::span<const int> prompt, const GenerateOptions& options, Rng& rng,
                          const std::function<void(int)>& on_token) {
  expect(!prompt.empty(), "generate: the prompt is empty; there must be at least one token to continue");
  options.sampler.validate();
  const NoGrad guard;
  std::vector<int> ids(prompt.begin(), prompt.end());
  std::optional<KVCache> cache;
  if (options.cache)
    cache.emplace(decoder.config, 1, std::min(decoder.config.context_length, prompt.size() + options.tokens));
  for (std::size_t i = 0; i < options.tokens; ++i) {
    const int id = sample(next_logits(decoder, ids, cache ? &*cache : nullptr).values(), options.sampler, rng, ids);
    ids.push_back(id);
    if (on_token) on_token(id);
    if (id == options.end_token) break;
  }
  return {ids.begin() + static_cast<std::ptrdiff_t>(prompt.size()), ids.end()};
}

}  // namespace gradus::nn
