#include "nn/with_pairing.h"

namespace gradus::nn {

static void turn(RopePairing pairing, Tensor& tensor, std::size_t n_heads) {
  if (tensor.defined()) tensor = to_pairing(pairing, tensor, n_heads).set_requires_grad(tensor.requires_grad());
}

Decoder with_pairing(RopePairing pairing, const Decoder& original) {
  Decoder decoder = original;  // handles: what is replaced below stays in the original
  if (decoder.config.rope_pairing == pairing) return decoder;
  decoder.config.rope_pairing = pairing;
  for (Block& layer : decoder.layers) {
    Attention& attention = layer.attention;
    attention.options.pairing = pairing;
    for (Tensor Linear::*part : {&Linear::weight, &Linear::bias}) {
      turn(pairing, attention.query.*part, decoder.config.n_heads);
      turn(pairing, attention.key.*part, decoder.config.n_kv_heads);
    }
    turn(pairing, attention.query_norm.gain, 1);  // one gain for all heads
    turn(pairing, attention.key_norm.gain, 1);
  }
  return decoder;
}

}  // namespace gradus::nn
