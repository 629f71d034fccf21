#include "autograd/broadcast.h"

#include <algorithm>

#include "autograd/error.h"

namespace gradus {

BroadcastPlan broadcast(std::string_view op, const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.rank(), b.rank());
  std::array<std::size_t, Shape::max_rank> extents{};
  BroadcastPlan plan;
  std::size_t a_stride = 1, b_stride = 1;
  for (std::size_t back = 1; back <= rank; ++back) {
    const std::size_t axis = rank - back;
    const std::size_t extent_a = back <= a.rank() ? a[a.rank() - back] : 1;
    const std::size_t extent_b = back <= b.rank() ? b[b.rank() - back] : 1;
    expect(extent_a == extent_b || extent_a == 1 || extent_b == 1,
           "{}: shapes {} and {} do not broadcast: extents {} and {} differ and neither is 1; reshape one of them", op,
           a, b, extent_a, extent_b);
    extents[axis] = extent_a == 1 ? extent_b : extent_a;
    plan.a_strides[axis] = extent_a == 1 ? 0 : a_stride;
    plan.b_strides[axis] = extent_b == 1 ? 0 : b_stride;
    a_stride *= extent_a;
    b_stride *= extent_b;
  }
  plan.shape = Shape(std::span(extents.data(), rank));
  return plan;
}

}  // namespace gradus
