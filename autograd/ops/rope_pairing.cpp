#include "autograd/ops/rope_pairing.h"

#include <algorithm>

#include "autograd/error.h"

namespace gradus {

// In a head, point i has the rows 2i and 2i + 1 of the adjacent order, and i and i + D/2 of the half order.
Tensor to_pairing(RopePairing target, const Tensor& weight, std::size_t n_heads) {
  expect(weight.rank() >= 1 && n_heads > 0 && weight.extent(0) % (2 * n_heads) == 0,
         "to_pairing: the rows of {} must be {} heads of an even number of rows; for a key that is n_kv_heads",
         weight.shape(), n_heads);
  const std::size_t head_dim = weight.extent(0) / n_heads, columns = weight.size() / weight.extent(0);
  Tensor result(weight.shape());
  const auto copy_row = [&](std::size_t from, std::size_t to) {
    std::ranges::copy(weight.values().subspan(from * columns, columns),
                      result.mutable_values().begin() + static_cast<std::ptrdiff_t>(to * columns));
  };
  for (std::size_t head = 0; head < n_heads; ++head)
    for (std::size_t i = 0; i < head_dim; ++i) {
      const std::size_t adjacent = head * head_dim + i, half = head * head_dim + i % 2 * (head_dim / 2) + i / 2;
      if (target == RopePairing::half)
        copy_row(adjacent, half);
      else
        copy_row(half, adjacent);
    }
  return result;
}

}  // namespace gradus
