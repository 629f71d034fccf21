// y = x Wᵀ + bias
#pragma once

#include "autograd/ops/linear.h"
#include "nn/module.h"

namespace gradus::nn {

struct Linear {
  Tensor weight;  // (out, in)
  Tensor bias;    // (out), or undefined

  Linear(std::size_t in, std::size_t out, bool with_bias = false)
      : weight(parameter({out, in})), bias(with_bias ? parameter({out}) : Tensor()) {}

  // (…, in) → (…, out)
  Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }

  static void fields(auto& self, auto&& visit) {
    visit("weight", self.weight);
    visit("bias", self.bias);
  }
};

}  // namespace gradus::nn
