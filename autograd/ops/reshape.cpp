#include "autograd/ops/reshape.h"

#include <algorithm>

#include "autograd/error.h"
#include "autograd/graph.h"

namespace gradus {

// yᵢ = xᵢ, and so   dxᵢ += dyᵢ
Tensor reshape(const Tensor& x, const Shape& shape) {
  expect(x.size() == shape.size(), "reshape: x {} has {} values and {} has {}; the numbers must agree", x.shape(), x.size(),
         shape, shape.size());
  Tensor y(shape);
  std::ranges::copy(x.values(), y.mutable_values().begin());
  return record(y, "reshape", {x}, [x](const Tensor& out) {
    const std::span<Real> dx = x.mutable_grad();
    for (std::size_t i = 0; i < dx.size(); ++i) dx[i] += out.grad()[i];
  });
}

}  // namespace gradus
