// Every row brought to mean zero and variance one, then scaled and shifted by what is learned.
#pragma once

#include "autograd/ops/layer_norm.h"
#include "nn/module.h"

namespace gradus::nn {

struct LayerNorm {
  Tensor gain;  // (width)
  Tensor bias;  // (width), or undefined
  double epsilon;

  explicit LayerNorm(std::size_t width, bool with_bias = true, double eps = 1e-5)
      : gain(parameter({width})), bias(with_bias ? parameter({width}) : Tensor()), epsilon(eps) {}

  // (…, width) → (…, width)
  Tensor operator()(const Tensor& x) const { return layer_norm(x, gain, bias, epsilon); }

  static void fields(auto& self, auto&& visit) {
    visit("gain", self.gain);
    visit("bias", self.bias);
  }
};

}  // namespace gradus::nn
