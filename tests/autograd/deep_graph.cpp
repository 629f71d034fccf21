// Chains of a million operations are built, run backward, and die on a small stack: `ulimit -s 1024`. A static
// tensor holds a chain to the end of the program.
#include <cstdio>

#include "autograd/graph.h"
#include "autograd/ops/pointwise.h"

using namespace gradus;

static Tensor chain(const Tensor& start, std::size_t length) {
  Tensor y = start;
  for (std::size_t i = 0; i < length; ++i) y = add_scalar(y, 0);
  return y;
}

static Tensor held_to_the_end;

int main() {
  constexpr std::size_t million = 1'000'000;
  const Tensor x = Tensor::scalar(1).set_requires_grad();
  chain(x, million).backward();
  if (x.grad()[0] != 1) {
    std::printf("the gradient is %g, not 1\n", static_cast<double>(x.grad()[0]));
    return 1;
  }
  chain(x, million);  // dies without backward
  held_to_the_end = chain(x, million);
  return 0;
}
