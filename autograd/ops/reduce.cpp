#include "autograd/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/ops/reshape.h"

namespace gradus {

namespace {

// x (…, n, …) as `outer` blocks of n rows of `inner` numbers each.
struct AxisView {
  std::size_t outer = 1, n = 1, inner = 1;
  Shape result;
};

}  // namespace

static AxisView view_axis(std::string_view op, const Tensor& x, std::size_t axis, KeepAxis keep) {
  expect(axis < x.rank(), "{}: axis {} of x {} does not exist", op, axis, x.shape());
  AxisView view;
  for (std::size_t i = 0; i < axis; ++i) view.outer *= x.extent(i);
  for (std::size_t i = axis + 1; i < x.rank(); ++i) view.inner *= x.extent(i);
  view.n = x.extent(axis);
  view.result = keep == KeepAxis::yes ? x.shape().with(axis, 1) : x.shape().without(axis);
  return view;
}

// y = s Σ x over the axis, with s = 1 or 1/n
static Tensor scaled_sum(const AxisView& view, const Tensor& x, double s) {
  Tensor y(view.result);
  const Real* const X = x.values().data();
  Real* const Y = y.mutable_values().data();
  std::vector<double> total(view.inner);
  for (std::size_t o = 0; o < view.outer; ++o) {
    std::ranges::fill(total, 0.0);
    for (std::size_t j = 0; j < view.n; ++j)
      for (std::size_t i = 0; i < view.inner; ++i)
        total[i] += static_cast<double>(X[(o * view.n + j) * view.inner + i]);
    for (std::size_t i = 0; i < view.inner; ++i) Y[o * view.inner + i] = static_cast<Real>(s * total[i]);
  }
  return y;
}

// Every x has slope s in its sum:   dx += s dy, repeated along the axis
static void scaled_sum_backward(const Tensor& y, const AxisView& view, const Tensor& x, double s) {
  const Real slope = static_cast<Real>(s);
  const Real* const DY = y.grad().data();
  Real* const DX = x.mutable_grad().data();
  for (std::size_t o = 0; o < view.outer; ++o)
    for (std::size_t j = 0; j < view.n; ++j)
      for (std::size_t i = 0; i < view.inner; ++i)
        DX[(o * view.n + j) * view.inner + i] += slope * DY[o * view.inner + i];
}

Tensor sum(const Tensor& x, std::size_t axis, KeepAxis keep) {
  const AxisView view = view_axis("sum", x, axis, keep);
  return record(scaled_sum(view, x, 1), "sum", {x},
                [view, x](const Tensor& out) { scaled_sum_backward(out, view, x, 1); });
}

Tensor mean(const Tensor& x, std::size_t axis, KeepAxis keep) {
  const AxisView view = view_axis("mean", x, axis, keep);
  expect(view.n > 0, "mean: axis {} of x {} is empty; an empty mean has no value", axis, x.shape());
  const double s = 1 / static_cast<double>(view.n);
  return record(scaled_sum(view, x, s), "mean", {x},
                [view, x, s](const Tensor& out) { scaled_sum_backward(out, view, x, s); });
}

// The first maximum of n numbers `inner` apart; a NaN, once met, stays.
static std::size_t first_maximum(const Real* x, std::size_t n, std::size_t inner) {
  std::size_t best = 0;
  for (std::size_t j = 1; j < n && !std::isnan(x[best * inner]); ++j)
    if (!(x[j * inner] <= x[best * inner])) best = j;
  return best;
}

// y is x at the first maximum along the axis, and so is the only x with a slope:   dx[first maximum] += dy
Tensor max(const Tensor& x, std::size_t axis, KeepAxis keep) {
  const AxisView view = view_axis("max", x, axis, keep);
  expect(view.n > 0, "max: axis {} of x {} is empty; an empty maximum has no value", axis, x.shape());
  Tensor y(view.result);
  std::vector<std::size_t> where(y.size());
  const Real* const X = x.values().data();
  Real* const Y = y.mutable_values().data();
  for (std::size_t o = 0; o < view.outer; ++o)
    for (std::size_t i = 0; i < view.inner; ++i) {
      const std::size_t start = o * view.n * view.inner + i;
      const std::size_t at = start + first_maximum(X + start, view.n, view.inner) * view.inner;
      where[o * view.inner + i] = at;
      Y[o * view.inner + i] = X[at];
    }
  return record(y, "max", {x}, [x, where = std::move(where)](const Tensor& out) {
    const std::span<Real> dx = x.mutable_grad();
    for (std::size_t i = 0; i < where.size(); ++i) dx[where[i]] += out.grad()[i];
  });
}

// Everything is one row.
static Tensor as_row(const Tensor& x) { return reshape(x, {x.size()}); }

Tensor sum(const Tensor& x) { return sum(as_row(x), 0); }
Tensor mean(const Tensor& x) { return mean(as_row(x), 0); }
Tensor max(const Tensor& x) { return max(as_row(x), 0); }

}  // namespace gradus
