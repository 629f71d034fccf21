#include "autograd/ops/masked_fill.h"

#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

static void check_contract(const Tensor& x, std::span<const int> mask) {
  const Shape& shape = x.shape();
  const std::size_t matrix = shape.rank() < 2 ? x.size() : shape[shape.rank() - 2] * shape.back();
  expect(mask.size() == matrix || mask.size() == x.size(),
         "masked_fill: a mask of {} numbers does not fit x {}; give {}, for the last two axes, or {}, one for every "
         "value",
         mask.size(), shape, matrix, x.size());
  for (std::size_t i = 0; i < mask.size(); ++i)
    expect(mask[i] == 0 || mask[i] == 1, "masked_fill: mask[{}] is {}; it must be 1 (fill) or 0 (keep)", i, mask[i]);
}

// Calls body(offset in x, offset in the mask, count) for every row of x, on all threads.
template <class Body>
static void for_each_row(const Tensor& x, std::size_t mask_size, const Body& body) {
  if (x.size() == 0) return;
  const std::size_t n = x.rank() == 0 ? 1 : x.shape().back();
  parallel_for(x.size() / n, 2 * n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) body(row * n, row * n % mask_size, n);
  });
}

// y = value where the mask is 1, x elsewhere. A filled place no longer depends on x:
//   dx += dy where the mask is 0
Tensor masked_fill(const Tensor& x, std::span<const int> mask, double value) {
  check_contract(x, mask);
  const Real filling = static_cast<Real>(value);
  Tensor y(x.shape());
  const Real* const X = x.values().data();
  Real* const Y = y.mutable_values().data();
  for_each_row(x, mask.size(), [&](std::size_t at, std::size_t at_mask, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) Y[at + i] = mask[at_mask + i] == 1 ? filling : X[at + i];
  });

  return record(y, "masked_fill", {x}, [x, filled = std::vector(mask.begin(), mask.end())](const Tensor& out) {
    const Real* const DY = out.grad().data();
    Real* const DX = x.mutable_grad().data();
    for_each_row(x, filled.size(), [&](std::size_t at, std::size_t at_mask, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) DX[at + i] += filled[at_mask + i] == 1 ? 0 : DY[at + i];
    });
  });
}

}  // namespace gradus
