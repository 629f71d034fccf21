#include "autograd/ops/linear_cross_entropy.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(linear_cross_entropy) {
  const std::vector<int> every{2, 0, 4, 2, 1, 3}, some{2, ignore_index, 4, ignore_index, 1, 3}, one{1};
  const Tensor x = table.uniform({2, 3, 4}), weight = table.uniform({5, 4}, -2, 2);
  const Tensor single = table.uniform({1}), column = table.uniform({3, 1});
  for (Reduction reduction : {Reduction::mean, Reduction::sum}) {
    table.check({{"x", x}, {"weight", weight}}, [=] { return linear_cross_entropy(x, weight, every, reduction); });
    table.check({{"x", x}, {"weight", weight}}, [=] { return linear_cross_entropy(x, weight, some, reduction); });
    table.check({{"x", single}, {"weight", column}},
                [=] { return linear_cross_entropy(single, column, one, reduction); });
  }
}
