// The gated feed-forward layer: down(silu(gate(x)) ⊙ up(x)).
#pragma once

#include "autograd/ops/swiglu.h"
#include "nn/linear.h"

namespace gradus::nn {

struct SwiGLU {
  Linear gate;  // (hidden, width)
  Linear up;    // (hidden, width)
  Linear down;  // (width, hidden)

  SwiGLU(std::size_t width, std::size_t hidden) : gate(width, hidden), up(width, hidden), down(hidden, width) {}

  // (…, width) → (…, width)
  Tensor operator()(const Tensor& x) const { return down(swiglu(gate(x), up(x))); }

  static void fields(auto& self, auto&& visit) {
    visit("gate", self.gate);
    visit("up", self.up);
    visit("down", self.down);
  }
};

// The usual hidden width: two thirds of 4 · width · factor, rounded down, then up to a multiple.
// Shazeer (2020) takes 2/3 so that three matrices cost what two did. Errors: multiple_of is 0; factor is not above 0.
std::size_t swiglu_hidden(std::size_t width, std::size_t multiple_of, double factor = 1);

}  // namespace gradus::nn
