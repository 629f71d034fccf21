#include "autograd/ops/cross_entropy.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(cross_entropy) {
  const std::vector<int> every{2, 0, 4, 2, 1, 3}, some{2, ignore_index, 4, ignore_index, 1, 3}, one{3};
  const Tensor logits = table.uniform({2, 3, 5}, -3, 3), single = table.uniform({5});
  for (Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
    table.check({{"logits", logits}}, [=] { return cross_entropy(logits, every, reduction); });
    table.check({{"logits", logits}}, [=] { return cross_entropy(logits, some, reduction); });
    table.check({{"logits", logits}}, [=] { return cross_entropy(logits, every, reduction, 0); });
    table.check({{"logits", single}}, [=] { return cross_entropy(single, one, reduction); });
  }
}
