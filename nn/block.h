// One layer of the decoder: attention and feed-forward, each reading a normalised copy and adding to the stream.
//
//   h ← h + attention(norm(h))
//   h ← h + feed_forward(norm(h))
#pragma once

#include "autograd/ops/binary.h"
#include "nn/attention.h"
#include "nn/rms_norm.h"
#include "nn/swiglu.h"

namespace gradus::nn {

struct Block {
  RMSNorm attention_norm;
  Attention attention;
  RMSNorm feed_forward_norm;
  SwiGLU feed_forward;
  double dropout;  // on what is added to the stream

  // The norms' epsilon and the dropout are those of the attention.
  Block(const AttentionOptions& options, std::size_t hidden)
      : attention_norm(options.width, options.norm_epsilon),
        attention(options),
        feed_forward_norm(options.width, options.norm_epsilon),
        feed_forward(options.width, hidden),
        dropout(options.dropout) {}

  // (B, T, C) → (B, T, C)
  Tensor operator()(const Tensor& x, const RopeTable& table, const Context& context = {}) const {
    const Tensor h = x + maybe_dropout(attention(attention_norm(x), table, context), dropout, context);
    return h + maybe_dropout(feed_forward(feed_forward_norm(h)), dropout, context);
  }

  static void fields(auto& self, auto&& visit) {
    visit("attention_norm", self.attention_norm);
    visit("attention", self.attention);
    visit("feed_forward_norm", self.feed_forward_norm);
    visit("feed_forward", self.feed_forward);
  }
};

}  // namespace gradus::nn
