// Broadcasting, NumPy's rule: shapes are aligned at the last axis, and an axis of extent 1, or one that is missing,
// is repeated to the extent of the other.
#pragma once

#include <array>
#include <string_view>

#include "autograd/shape.h"

namespace gradus {

// How to walk two inputs along a common output shape. A stride of 0 repeats.
struct BroadcastPlan {
  Shape shape;  // of the output
  std::array<std::size_t, Shape::max_rank> a_strides{};
  std::array<std::size_t, Shape::max_rank> b_strides{};
};

// Errors: an axis differs and neither extent is 1, naming the operation and both shapes.
BroadcastPlan broadcast(std::string_view op, const Shape& a, const Shape& b);

// Calls body(output offset, a's offset, b's offset, count, a's step, b's step) for each run along the last axis.
template <class Body>
void for_each_run(const BroadcastPlan& plan, const Body& body) {
  const std::size_t rank = plan.shape.rank();
  if (plan.shape.size() == 0) return;
  if (rank == 0)
    return body(std::size_t{0}, std::size_t{0}, std::size_t{0}, std::size_t{1}, std::size_t{1}, std::size_t{1});
  const std::size_t count = plan.shape.back(), rows = plan.shape.rows();
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t a = 0, b = 0, rest = row;
    for (std::size_t axis = rank - 1; axis-- > 0;) {
      const std::size_t index = rest % plan.shape[axis];
      rest /= plan.shape[axis];
      a += index * plan.a_strides[axis];
      b += index * plan.b_strides[axis];
    }
    body(row * count, a, b, count, plan.a_strides[rank - 1], plan.b_strides[rank - 1]);
  }
}

}  // namespace gradus
