// GPT-2, the decoder before LLaMA, from the same parts. Radford et al., "Language Models are Unsupervised Multitask
// Learners" (2019), section 2.3.
//
//   tokens and positions → L blocks → norm → logits from the embedding's own matrix
//
// What LLaMA changed: positions are learned vectors here and not rotations, LayerNorm is not yet RMSNorm, the
// feed-forward layer has no gate, every head has its own keys and values, and there are biases.
#pragma once

#include <span>
#include <vector>

#include "autograd/ops/linear.h"
#include "nn/attention.h"
#include "nn/config.h"
#include "nn/context.h"
#include "nn/embedding.h"
#include "nn/kv_cache.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"

namespace gradus::nn {

// The exact Gaussian error linear unit, or the approximation that OpenAI's weights were trained with.
enum class GeluKind { erf, tanh };

struct GPT2Config {
  std::size_t vocab_size = 50257;     // V
  std::size_t width = 768;            // C, of the residual stream
  std::size_t n_layers = 12;          // L
  std::size_t n_heads = 12;           // H; divides C
  std::size_t context_length = 1024;  // the most tokens a sequence may have, each with a learned vector
  bool bias = true;                   // in every Linear and LayerNorm
  GeluKind gelu = GeluKind::tanh;
  double norm_epsilon = 1e-5;
  double dropout = 0;  // on the embedding, the attention weights and what attention and feed-forward add to the stream;
                       // only where the Context has a generator
  AttentionKind attention = AttentionKind::fused;

  std::size_t hidden() const { return 4 * width; }  // of the feed-forward layer

  // So that a cache for this model is KVCache(config, batch, capacity).
  operator KVCacheSize() const { return {n_layers, n_heads, width / n_heads}; }

  // Errors: a field that no GPT-2 can have, naming it, its value and what would do.
  void validate() const;

  // Every parameter, the matrix that is embedding and head once. Shapes only: nothing is allocated.
  std::vector<ParameterCount> parameter_table() const;
  std::size_t parameter_count() const;  // 124,439,808 for the defaults, which are the smallest model published
};

struct GPT2Attention {
  Linear query, key, value, output;  // (C, C) each
  AttentionCall call;

  GPT2Attention(const GPT2Config& config, std::size_t layer);
  Tensor operator()(const Tensor& x, const Context& context = {}) const;  // (B, T, C) → (B, T, C)

  static void fields(auto& self, auto&& visit) {
    visit("query", self.query);
    visit("key", self.key);
    visit("value", self.value);
    visit("output", self.output);
  }
};

struct GPT2FeedForward {
  Linear up;    // (4 C, C)
  Linear down;  // (C, 4 C)
  GeluKind kind;

  explicit GPT2FeedForward(const GPT2Config& config);
  Tensor operator()(const Tensor& x) const;  // (…, C) → (…, C)

  static void fields(auto& self, auto&& visit) {
    visit("up", self.up);
    visit("down", self.down);
  }
};

struct GPT2Block {
  LayerNorm attention_norm;
  GPT2Attention attention;
  LayerNorm feed_forward_norm;
  GPT2FeedForward feed_forward;
  double dropout;

  GPT2Block(const GPT2Config& config, std::size_t layer);
  Tensor operator()(const Tensor& x, const Context& context = {}) const;  // (B, T, C) → (B, T, C)

  static void fields(auto& self, auto&& visit) {
    visit("attention_norm", self.attention_norm);
    visit("attention", self.attention);
    visit("feed_forward_norm", self.feed_forward_norm);
    visit("feed_forward", self.feed_forward);
  }
};

struct GPT2 {
  GPT2Config config;
  Embedding embedding;  // (V, C), and the head
  Embedding positions;  // (context_length, C)
  std::vector<GPT2Block> layers;
  LayerNorm norm;

  // Parameters of the right shapes, uninitialised. Errors: those of GPT2Config::validate.
  explicit GPT2(const GPT2Config& config);

  // The four of nn/decoder.h, with the same shapes, errors and use of the context.
  Tensor hidden(std::span<const int> ids, std::size_t batch, const Context& context = {}) const;
  Tensor logits(const Tensor& h) const { return linear(h, embedding.weight); }
  Tensor loss(std::span<const int> ids, std::span<const int> targets, std::size_t batch,
              const Context& context = {}) const;
  void set_attention(AttentionKind kind);

  static void fields(auto& self, auto&& visit) {
    visit("embedding", self.embedding);
    visit("positions", self.positions);
    visit("layers", self.layers);
    visit("norm", self.norm);
  }
};

// Weights from N(0, 0.02), gains 1, biases 0; the two projections that add to the residual stream, attention.output and
// feed_forward.down, from N(0, 0.02 / √(2 L)).
void initialise(GPT2& model, Rng& rng);

}  // namespace gradus::nn
