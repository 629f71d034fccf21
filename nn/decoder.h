// The whole model: a LLaMA-style pre-norm decoder. Touvron et al., "LLaMA" (2023), section 2.2.
//
//   tokens → embedding → L blocks → norm → head → logits for the next token
#pragma once

#include <span>
#include <vector>

#include "nn/block.h"
#include "nn/config.h"
#include "nn/context.h"
#include "nn/embedding.h"

namespace gradus::nn {

struct Decoder {
  Config config;
  Embedding embedding;        // (V, C)
  std::vector<Block> layers;  // L of them
  RMSNorm norm;
  Linear head;  // (V, C); the embedding's own tensor where the head is tied

  // Parameters of the right shapes, uninitialised. Errors: those of Config::validate.
  explicit Decoder(const Config& config);

  // ids (B·T), one row of the batch after the other → (B, T, C), after the final norm. Padding may have any id; what
  // comes out for it means nothing, and nothing of it reaches a token. With a cache the rows go on behind what it has,
  // and these tokens are added to it.
  // Errors: an id outside the vocabulary; ids that are not whole rows; a row longer than the context, or than the
  // cache; a cache while gradients are recorded; those of token_places.
  Tensor hidden(std::span<const int> ids, std::size_t batch, const Context& context = {}) const;
  // (…, C) → (…, V), for as many rows as one wants.
  Tensor logits(const Tensor& h) const { return head(h); }
  // Mean surprise of the targets (B·T) in nats, ignore_index left out → (). Never holds all logits at once.
  Tensor loss(std::span<const int> ids, std::span<const int> targets, std::size_t batch,
              const Context& context = {}) const;

  // Switches every layer between the composed and the fused operation; the numbers agree to rounding.
  void set_attention(AttentionKind kind);

  static void fields(auto& self, auto&& visit) {
    visit("embedding", self.embedding);
    visit("layers", self.layers);
    visit("norm", self.norm);
    visit("head", self.head);
  }

 private:
  const RopeTable& table_for(std::size_t positions) const;
  mutable RopeTable table_;  // as many rows as the longest position used so far
};

// Fills every parameter as Config::initialisation says.
void initialise(Decoder& decoder, Rng& rng);

}  // namespace gradus::nn
