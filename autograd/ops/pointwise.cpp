#include "autograd/ops/pointwise.h"

#include <cmath>
#include <numbers>

#include "autograd/exp.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

// y = f(x), and in backward dx += slope(x, y) dy. `work` is roughly how many multiplications f costs.
template <class Function, class Slope>
static Tensor pointwise(const Tensor& x, const char* op, std::size_t work, const Function& f, const Slope& slope) {
  Tensor y(x.shape());
  parallel_for(x.size(), work, [from = x.values(), to = y.mutable_values(), f](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) to[i] = f(from[i]);
  });
  return record(y, op, {x}, [x, work, slope](const Tensor& out) {
    const Real* const X = x.values().data();
    const Real* const Y = out.values().data();
    const Real* const DY = out.grad().data();
    Real* const DX = x.mutable_grad().data();
    parallel_for(x.size(), work, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) DX[i] += slope(X[i], Y[i]) * DY[i];
    });
  });
}

// e⁻ˣ overflows to infinity for very negative x, and 1 / (1 + ∞) is the right 0.
static inline Real sigmoid_of(Real x) { return 1 / (1 + fast_exp(-x)); }

// d(x + s)/dx = 1
Tensor add_scalar(const Tensor& t, double s) {
  const Real offset = static_cast<Real>(s);
  return pointwise(t, "add_scalar", 1, [offset](Real x) { return x + offset; }, [](Real, Real) { return Real{1}; });
}

// d(s x)/dx = s
Tensor scale(const Tensor& t, double s) {
  const Real factor = static_cast<Real>(s);
  return pointwise(t, "scale", 1, [factor](Real x) { return factor * x; }, [factor](Real, Real) { return factor; });
}

// d(−x)/dx = −1
Tensor neg(const Tensor& t) {
  return pointwise(t, "neg", 1, [](Real x) { return -x; }, [](Real, Real) { return Real{-1}; });
}

// d(eˣ)/dx = eˣ = y
Tensor exp(const Tensor& t) {
  return pointwise(t, "exp", 12, [](Real x) { return fast_exp(x); }, [](Real, Real y) { return y; });
}

// d(ln x)/dx = 1/x
Tensor log(const Tensor& t) {
  return pointwise(t, "log", 20, [](Real x) { return std::log(x); }, [](Real x, Real) { return 1 / x; });
}

// d(√x)/dx = 1 / (2 √x) = 1 / (2 y)
Tensor sqrt(const Tensor& t) {
  return pointwise(t, "sqrt", 6, [](Real x) { return std::sqrt(x); }, [](Real, Real y) { return 1 / (2 * y); });
}

// d(xᵖ)/dx = p xᵖ⁻¹, and 0 for p = 0 even where x⁻¹ is infinite
Tensor pow(const Tensor& t, double p) {
  const Real power = static_cast<Real>(p);
  return pointwise(
      t, "pow", 60, [power](Real x) { return std::pow(x, power); },
      [power](Real x, Real) { return power == 0 ? Real{0} : power * std::pow(x, power - 1); });
}

// d(tanh x)/dx = 1 − tanh² x
Tensor tanh(const Tensor& t) {
  return pointwise(t, "tanh", 30, [](Real x) { return std::tanh(x); }, [](Real, Real y) { return 1 - y * y; });
}

// σ′ = σ (1 − σ)
Tensor sigmoid(const Tensor& t) {
  return pointwise(t, "sigmoid", 16, [](Real x) { return sigmoid_of(x); }, [](Real, Real y) { return y * (1 - y); });
}

// max(x, 0)′ = 1 above 0, and 0 elsewhere. Written so that a NaN stays one.
Tensor relu(const Tensor& t) {
  return pointwise(t, "relu", 1, [](Real x) { return x < 0 ? Real{0} : x; },
                   [](Real x, Real) { return x > 0 ? Real{1} : Real{0}; });
}

// (x σ)′ = σ + x σ (1 − σ) = σ + y (1 − σ)
Tensor silu(const Tensor& t) {
  return pointwise(
      t, "silu", 16, [](Real x) { return x * sigmoid_of(x); },
      [](Real x, Real y) {
        const Real s = sigmoid_of(x);
        return s + y * (1 - s);
      });
}

// (x Φ)′ = Φ + x φ with Φ = ½ (1 + erf(x/√2)) and its density φ = e^(−x²/2) / √(2π)
Tensor gelu(const Tensor& t) {
  constexpr Real half_sqrt = static_cast<Real>(1 / std::numbers::sqrt2);
  constexpr Real density_at_0 = static_cast<Real>(0.5 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  const auto probability = [](Real x) { return Real{0.5} * (1 + std::erf(x * half_sqrt)); };
  return pointwise(
      t, "gelu", 40, [probability](Real x) { return x * probability(x); },
      [probability](Real x, Real) { return probability(x) + x * density_at_0 * fast_exp(-x * x / 2); });
}

// With th = tanh u, u = c (x + a x³), c = √(2/π), a = 0.044715:   y = ½ x (1 + th)
//   y′ = ½ (1 + th) + ½ x (1 − th²) c (1 + 3 a x²)
Tensor gelu_tanh(const Tensor& t) {
  constexpr Real c = static_cast<Real>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi), a = static_cast<Real>(0.044715);
  return pointwise(
      t, "gelu_tanh", 40, [](Real x) { return Real{0.5} * x * (1 + std::tanh(c * (x + a * x * x * x))); },
      [](Real x, Real) {
        const Real th = std::tanh(c * (x + a * x * x * x));
        return Real{0.5} * (1 + th) + Real{0.5} * x * (1 - th * th) * c * (1 + 3 * a * x * x);
      });
}

}  // namespace gradus
