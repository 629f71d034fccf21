// Low-rank adaptation: a trained matrix W₀ stays as it is, and what it has to learn is a product of two thin ones.
//
//   W = W₀ + (α / r) · B · A        W₀ (out, in)   B (out, r)   A (r, in)
//
// B begins at 0, so the model begins as it was. Only A and B are trained: r (out + in) numbers instead of out · in.
// Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models" (2021), section 4.1.
//
// It is a reparametrisation and no module: before each forward pass rebind() puts the recorded W into the layer, so Linear,
// Attention, names and files know nothing of it. Its gradients are those of the product: dB = (α/r) dW Aᵀ, dA = (α/r) Bᵀ dW.
#pragma once

#include <string>
#include <vector>

#include "autograd/random.h"
#include "nn/decoder.h"

namespace gradus::nn {

struct LoraOptions {
  std::size_t rank = 8;                                     // r
  double alpha = 16;                                        // α: what is learnt is scaled by α / r
  std::vector<std::string> projections = {"query", "value"};  // of every layer: query, key, value, output, gate, up, down
};

class Lora {
 public:
  // Freezes every parameter of the decoder, which must outlive it and stay where it is. A is drawn from N(0, 1 / in).
  // Errors: a rank of 0 or above a matrix's smaller side; an α that is not above 0; no projection, an unknown or a
  // repeated one.
  Lora(Decoder& decoder, const LoraOptions& options, Rng& rng);
  Lora(const Lora&) = delete;
  Lora& operator=(const Lora&) = delete;

  // Computes every W anew. Call it before each forward pass: a step has changed A and B, and a backward pass has used up
  // what was recorded.
  void rebind();
  // For the optimizer: "layers.0.attention.query.lora_a", "….lora_b", and so on.
  std::vector<Parameter> parameters() const;
  // Leaves the decoder as one without adaptation whose matrices are the present W, every parameter trainable as before.
  void merge();

 private:
  struct Adapted {
    Linear* linear;
    Tensor frozen;  // W₀
    Tensor a;       // (r, in)
    Tensor b;       // (out, r)
    std::string name;
  };
  Tensor weight_of(const Adapted& adapted) const;

  Decoder& decoder_;
  double scale_;  // α / r
  std::vector<Adapted> adapted_;
};

}  // namespace gradus::nn
