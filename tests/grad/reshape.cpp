#include "autograd/ops/reshape.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(reshape) {
  const std::pair<Shape, Shape> pairs[] = {{{2, 3}, {3, 2}}, {{2, 3}, {6}}, {{1}, {}}, {{4}, {1, 2, 1, 2}}};
  for (const auto& [from, to] : pairs) {
    const Tensor x = table.uniform(from);
    table.check({{"x", x}}, [x, to = to] { return reshape(x, to); });
  }
}
