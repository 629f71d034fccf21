// Causal grouped-query attention with rotary positions.
#pragma once

#include "autograd/ops/attention.h"
#include "autograd/ops/rope.h"
#include "nn/context.h"
#include "nn/linear.h"
#include "nn/rms_norm.h"

namespace gradus::nn {

// Composed from primitive operations, which can show its weights, or one operation without the T×T matrix.
enum class AttentionKind { composed, fused };

// What a layer says of itself when it attends.
struct AttentionCall {
  AttentionHeads heads;
  AttentionKind kind;
  double dropout;     // on the weights
  std::size_t layer;  // which of the cache's layers is this one's
};

// What query (B, T, H·D) reads from key and value (B, T, G·D) → (B, T, H·D); with a cache these are written to it, and
// read from there with those before them. The weights only where the call is composed.
// Errors: those of KVCache::append.
AttentionResult attend(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionCall& call,
                       const TokenPlaces& places, const Context& context);

struct AttentionOptions {
  std::size_t width;       // C
  std::size_t n_heads;     // H
  std::size_t n_kv_heads;  // G; divides H
  std::size_t head_dim;    // D
  RopePairing pairing = RopePairing::adjacent;
  AttentionKind kind = AttentionKind::fused;
  bool bias = false;            // on query, key and value, not on the output
  bool query_key_norm = false;  // every head's query and key is normalised before it is turned
  double norm_epsilon = 1e-5;
  double dropout = 0;     // on the weights
  std::size_t layer = 0;  // which of the cache's layers is this one's
};

struct Attention {
  Linear query;        // (H·D, C)
  Linear key;          // (G·D, C)
  Linear value;        // (G·D, C)
  Linear output;       // (C, H·D)
  RMSNorm query_norm;  // (D), one gain for all heads, or undefined
  RMSNorm key_norm;    // (D), likewise
  AttentionOptions options;

  explicit Attention(const AttentionOptions& options);

  // (B, T, C) → (B, T, C). With a cache, the tokens' keys and values are written to it, and queries see its rows.
  // Errors: those of token_places and KVCache::append.
  Tensor operator()(const Tensor& x, const RopeTable& table, const Context& context = {}) const;
  // The weights each query gives to each key, (B, H, T, S), for whoever wants to look.
  Tensor weights(const Tensor& x, const RopeTable& table, const Context& context = {}) const;

  static void fields(auto& self, auto&& visit) {
    visit("query", self.query);
    visit("key", self.key);
    visit("value", self.value);
    visit("output", self.output);
    visit("query_norm", self.query_norm);
    visit("key_norm", self.key_norm);
  }

 private:
  AttentionResult read(const Tensor& x, const RopeTable& table, const Context& context, AttentionKind kind) const;
};

}  // namespace gradus::nn
