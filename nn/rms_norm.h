// Every row scaled to a root mean square of one, then by a learned gain.
#pragma once

#include "autograd/ops/rms_norm.h"
#include "nn/module.h"

namespace gradus::nn {

struct RMSNorm {
  Tensor gain;  // (width)
  double epsilon;

  explicit RMSNorm(std::size_t width, double eps = 1e-5) : gain(parameter({width})), epsilon(eps) {}

  // (…, width) → (…, width)
  Tensor operator()(const Tensor& x) const { return rms_norm(x, gain, epsilon); }

  static void fields(auto& self, auto&& visit) { visit("gain", self.gain); }
};

}  // namespace gradus::nn
