#include "autograd/ops/swiglu.h"

#include "autograd/error.h"
#include "autograd/exp.h"
#include "autograd/graph.h"
#include "autograd/ops/binary.h"
#include "autograd/ops/pointwise.h"
#include "autograd/parallel.h"

namespace gradus {

static void swiglu_backward(const Tensor& y, const Tensor& gate, const Tensor& up);

static void check_contract(const Tensor& gate, const Tensor& up) {
  expect(gate.shape() == up.shape(), "swiglu: gate {} and up {} must have the same shape", gate.shape(), up.shape());
}

// σ(g) = 1 / (1 + e⁻ᵍ). Where e⁻ᵍ overflows to infinity the result is the right 0.
static inline Real sigmoid_of(Real g) { return 1 / (1 + fast_exp(-g)); }

// y = g σ(g) u, for every element g of gate and u of up.
Tensor swiglu(const Tensor& gate, const Tensor& up) {
  check_contract(gate, up);
  Tensor y(gate.shape());
  const Real* const G = gate.values().data();
  const Real* const U = up.values().data();
  Real* const Y = y.mutable_values().data();
  parallel_for(y.size(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) Y[i] = G[i] * sigmoid_of(G[i]) * U[i];
  });
  return record(y, "swiglu", {gate, up}, [gate, up](const Tensor& out) { swiglu_backward(out, gate, up); });
}

// With s = σ(g) and σ′ = s (1 − s), the slope of g σ(g) is s + g s (1 − s) = s (1 + g (1 − s)). Hence
//   dgate += dy u s (1 + g (1 − s))
//   dup   += dy g s
// s is computed again: that costs less than storing it and reading it back.
static void swiglu_backward(const Tensor& y, const Tensor& gate, const Tensor& up) {
  const Real* const G = gate.values().data();
  const Real* const U = up.values().data();
  const Real* const DY = y.grad().data();
  Real* const dgate = gate.requires_grad() ? gate.mutable_grad().data() : nullptr;
  Real* const dup = up.requires_grad() ? up.mutable_grad().data() : nullptr;
  parallel_for(y.size(), 32, [&](std::size_t begin, std::size_t end) {
    if (dgate != nullptr)
      for (std::size_t i = begin; i < end; ++i) {
        const Real s = sigmoid_of(G[i]);
        dgate[i] += DY[i] * U[i] * s * (1 + G[i] * (1 - s));
      }
    if (dup != nullptr)
      for (std::size_t i = begin; i < end; ++i) dup[i] += DY[i] * G[i] * sigmoid_of(G[i]);
  });
}

Tensor swiglu_composed(const Tensor& gate, const Tensor& up) {
  check_contract(gate, up);
  return silu(gate) * up;
}

}  // namespace gradus
