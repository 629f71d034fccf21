// Causal grouped-query attention with rotary positions.
#pragma once

#include <vector>

#include "autograd/ops/attention.h"
#include "autograd/ops/rope.h"
#include "nn/context.h"
#include "nn/linear.h"

namespace gradus::nn {

// Composed from primitive operations, which can show its weights, or one operation without the T×T matrix.
enum class AttentionKind { composed, fused };

struct AttentionOptions {
  std::size_t width;       // C
  std::size_t n_heads;     // H
  std::size_t n_kv_heads;  // G; divides H
  std::size_t head_dim;    // D
  RopePairing pairing = RopePairing::adjacent;
  AttentionKind kind = AttentionKind::fused;
};

struct Attention {
  Linear query;   // (H·D, C)
  Linear key;     // (G·D, C)
  Linear value;   // (G·D, C)
  Linear output;  // (C, H·D)
  AttentionOptions options;

  explicit Attention(const AttentionOptions& options);

  // (B, T, C) → (B, T, C)
  Tensor operator()(const Tensor& x, const RopeTable& table, const Context& context = {}) const;
  // The weights each query gives to each key, (B, H, T, T), for whoever wants to look.
  Tensor weights(const Tensor& x, const RopeTable& table, const Context& context = {}) const;

  static void fields(auto& self, auto&& visit) {
    visit("query", self.query);
    visit("key", self.key);
    visit("value", self.value);
    visit("output", self.output);
  }
};

}  // namespace gradus::nn
