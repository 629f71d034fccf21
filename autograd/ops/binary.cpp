#include "autograd/ops/binary.h"

#include "autograd/broadcast.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

// y = f(a, b), walking the plan; equal shapes need no plan and may use all threads.
template <class Function>
static Tensor forward(const BroadcastPlan& plan, const Tensor& a, const Tensor& b, const Function& f) {
  Tensor y(plan.shape);
  const Real* const A = a.values().data();
  const Real* const B = b.values().data();
  Real* const Y = y.mutable_values().data();
  if (a.shape() == b.shape()) {
    parallel_for(y.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) Y[i] = f(A[i], B[i]);
    });
  } else {
    for_each_run(plan, [&](std::size_t at_y, std::size_t at_a, std::size_t at_b, std::size_t count, std::size_t step_a,
                           std::size_t step_b) {
      for (std::size_t i = 0; i < count; ++i) Y[at_y + i] = f(A[at_a + i * step_a], B[at_b + i * step_b]);
    });
  }
  return y;
}

// da += slope(dy, a, b). An element of a that was repeated receives a term from every place it went to: the same walk
// as forward, with stride 0 where a was repeated, is the sum over the broadcast axes.
template <class Slope>
static void add_to_gradient(const BroadcastPlan& plan, const Tensor& target, bool target_is_a, const Tensor& y,
                            const Tensor& a, const Tensor& b, const Slope& slope) {
  if (!target.requires_grad()) return;
  const Real* const A = a.values().data();
  const Real* const B = b.values().data();
  const Real* const DY = y.grad().data();
  Real* const D = target.mutable_grad().data();
  if (a.shape() == b.shape()) {
    parallel_for(y.size(), 2, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) D[i] += slope(DY[i], A[i], B[i]);
    });
  } else {
    for_each_run(plan, [&](std::size_t at_y, std::size_t at_a, std::size_t at_b, std::size_t count, std::size_t step_a,
                           std::size_t step_b) {
      const std::size_t at = target_is_a ? at_a : at_b, step = target_is_a ? step_a : step_b;
      for (std::size_t i = 0; i < count; ++i)
        D[at + i * step] += slope(DY[at_y + i], A[at_a + i * step_a], B[at_b + i * step_b]);
    });
  }
}

// y = a + b
//   da += dy
//   db += dy
Tensor add(const Tensor& a, const Tensor& b) {
  const BroadcastPlan plan = broadcast("add", a.shape(), b.shape());
  const Tensor y = forward(plan, a, b, [](Real u, Real v) { return u + v; });
  return record(y, "add", {a, b}, [plan, a, b](const Tensor& out) {
    add_to_gradient(plan, a, true, out, a, b, [](Real dy, Real, Real) { return dy; });
    add_to_gradient(plan, b, false, out, a, b, [](Real dy, Real, Real) { return dy; });
  });
}

// y = a − b
//   da += dy
//   db −= dy
Tensor sub(const Tensor& a, const Tensor& b) {
  const BroadcastPlan plan = broadcast("sub", a.shape(), b.shape());
  const Tensor y = forward(plan, a, b, [](Real u, Real v) { return u - v; });
  return record(y, "sub", {a, b}, [plan, a, b](const Tensor& out) {
    add_to_gradient(plan, a, true, out, a, b, [](Real dy, Real, Real) { return dy; });
    add_to_gradient(plan, b, false, out, a, b, [](Real dy, Real, Real) { return -dy; });
  });
}

// y = a b
//   da += b dy
//   db += a dy
Tensor mul(const Tensor& a, const Tensor& b) {
  const BroadcastPlan plan = broadcast("mul", a.shape(), b.shape());
  const Tensor y = forward(plan, a, b, [](Real u, Real v) { return u * v; });
  return record(y, "mul", {a, b}, [plan, a, b](const Tensor& out) {
    add_to_gradient(plan, a, true, out, a, b, [](Real dy, Real, Real v) { return dy * v; });
    add_to_gradient(plan, b, false, out, a, b, [](Real dy, Real u, Real) { return dy * u; });
  });
}

// y = a / b
//   da += dy / b
//   db −= dy a / b²
Tensor div(const Tensor& a, const Tensor& b) {
  const BroadcastPlan plan = broadcast("div", a.shape(), b.shape());
  const Tensor y = forward(plan, a, b, [](Real u, Real v) { return u / v; });
  return record(y, "div", {a, b}, [plan, a, b](const Tensor& out) {
    add_to_gradient(plan, a, true, out, a, b, [](Real dy, Real, Real v) { return dy / v; });
    add_to_gradient(plan, b, false, out, a, b, [](Real dy, Real u, Real v) { return -dy * u / (v * v); });
  });
}

}  // namespace gradus
