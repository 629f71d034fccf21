// One input, element by element: y = f(x), dx += f′(x) dy. Every result has x's shape.
#pragma once

#include "autograd/tensor.h"

namespace gradus {

Tensor add_scalar(const Tensor& x, double s);  // x + s
Tensor scale(const Tensor& x, double s);       // s · x

Tensor neg(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);   // −inf at 0, NaN below
Tensor sqrt(const Tensor& x);  // NaN below 0; its slope at 0 is infinite
// xᵖ with the real exponent p. At x ≤ 0 it is what it must be for a whole p (x² at −2 has slope −4, x⁰ and x¹ at 0
// have slopes 0 and 1), and NaN for a fractional p below 0.
Tensor pow(const Tensor& x, double p);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  // 1 / (1 + e⁻ˣ)
Tensor relu(const Tensor& x);     // max(x, 0); the slope at 0 is 0
// x · sigmoid(x). Elfwing, Uchibe, Doya (2017), equation 3; also called swish.
Tensor silu(const Tensor& x);
// x · Φ(x) with the normal distribution's Φ. Hendrycks and Gimpel, "Gaussian Error Linear Units" (2016), section 2.
Tensor gelu(const Tensor& x);
// Its approximation ½ x (1 + tanh(√(2/π) (x + 0.044715 x³))), which the original GPT-2 uses.
Tensor gelu_tanh(const Tensor& x);

inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator+(const Tensor& x, double s) { return add_scalar(x, s); }
inline Tensor operator+(double s, const Tensor& x) { return add_scalar(x, s); }
inline Tensor operator-(const Tensor& x, double s) { return add_scalar(x, -s); }
inline Tensor operator-(double s, const Tensor& x) { return add_scalar(neg(x), s); }
inline Tensor operator*(const Tensor& x, double s) { return scale(x, s); }
inline Tensor operator*(double s, const Tensor& x) { return scale(x, s); }
inline Tensor operator/(const Tensor& x, double s) { return scale(x, 1 / s); }
inline Tensor operator/(double s, const Tensor& x) { return scale(pow(x, -1), s); }

}  // namespace gradus
