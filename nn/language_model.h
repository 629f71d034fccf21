// Any model that gives a distribution of the next token, as much of it as writing and comparing need: the Decoder, GPT2,
// or a reader's own.
#pragma once

#include <functional>
#include <span>

#include "nn/context.h"
#include "nn/kv_cache.h"

namespace gradus::nn {

struct LanguageModel {
  std::size_t vocab_size;      // V
  std::size_t context_length;  // the most tokens a sequence may have
  KVCacheSize cache;
  // As those of nn/decoder.h: ids (B·T) → (B, T, C), and (…, C) → (…, V).
  std::function<Tensor(std::span<const int> ids, std::size_t batch, const Context& context)> hidden;
  std::function<Tensor(const Tensor& h)> logits;

  // A copy of handles: the weights are the model's own.
  template <class Model>
    requires requires(const Model& model) { model.config.context_length; }
  LanguageModel(const Model& model)
      : vocab_size(model.config.vocab_size),
        context_length(model.config.context_length),
        cache(model.config),
        hidden([model](std::span<const int> tokens, std::size_t batch, const Context& context) {
          return model.hidden(tokens, batch, context);
        }),
        logits([model](const Tensor& h) { return model.logits(h); }) {}
};

}  // namespace gradus::nn
