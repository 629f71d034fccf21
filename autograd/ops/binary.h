// Two inputs, element by element, with NumPy's broadcasting (autograd/broadcast.h).
#pragma once

#include "autograd/tensor.h"

namespace gradus {

// Shapes: any two that broadcast. Errors: an axis differs and neither extent is 1.
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);  // division by 0 follows IEEE 754: ±inf or NaN

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }

}  // namespace gradus
