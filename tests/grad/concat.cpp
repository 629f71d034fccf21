#include "autograd/ops/concat.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(concat) {
  const Tensor one = table.uniform({2, 1, 3}), two = table.uniform({2, 2, 3}), four = table.uniform({2, 4, 3});
  table.check({{"one", one}, {"two", two}, {"four", four}}, [=] { return concat({one, two, four}, 1); });
  table.check({{"two", two}, {"one", one}}, [=] { return concat({two, one}, 1); });
  table.check({{"one", one}}, [=] { return concat({one, one}, 2); });
  for (const std::size_t axis : {0, 1, 2}) table.check({{"two", two}}, [=] { return concat({two, two, two}, axis); });
  const Tensor a = table.uniform({3}), b = table.uniform({1});
  table.check({{"a", a}, {"b", b}}, [=] { return concat({a, b}, 0); });
  table.check({{"a", a}}, [=] { return concat({a}, 0); });
}
