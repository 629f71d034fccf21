// Chapter 7: RMSNorm, its Jacobian, and what the Jacobian does to a gradient.
#include <cmath>
#include <cstdio>

#include "autograd/gradcheck.h"
#include "autograd/graph.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/rms_norm.h"

using namespace gradus;

static void print_row(const char* name, std::span<const Real> row) {
  std::printf("%-28s", name);
  for (Real value : row) std::printf(" %9.5f", value);
  std::printf("\n");
}

// Row i of the Jacobian is what backward returns for the cotangent that is 1 at i and 0 elsewhere.
static Tensor jacobian_row(const Tensor& values, const Tensor& gain, double epsilon, std::size_t i) {
  Tensor x = Tensor(values.shape(), values.values()).set_requires_grad();
  Tensor one_hot = Tensor::zeros(values.shape());
  one_hot.mutable_values()[i] = 1;
  rms_norm(x, gain, epsilon).backward(one_hot);
  return Tensor(x.shape(), x.grad());
}

static double product(std::span<const Real> a, std::span<const Real> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

int main() {
  const double epsilon = 1e-5;
  const Tensor x({4}, {1, 2, 3, 4}), gain = Tensor::full({4}, 1);

  std::printf("1. The forward pass\n");
  const Tensor y = rms_norm(x, gain, epsilon);
  print_row("x", x.values());
  print_row("y = x / r", y.values());
  std::printf("r = %.5f, and the mean of y² is %.5f\n", x.values()[0] / y.values()[0], product(y.values(), y.values()) / 4);

  std::printf("\n2. The scale of x is gone\n");
  print_row("rms_norm(1000 x)", rms_norm(1000.0 * x, gain, epsilon).values());

  std::printf("\n3. The Jacobian, (I − y yᵀ / n) / r: a projection\n");
  for (std::size_t i = 0; i < 4; ++i) print_row(i == 0 ? "dy/dx" : "", jacobian_row(x, gain, epsilon, i).values());

  std::printf("\n4. No gradient points along x: moving along x changes nothing\n");
  for (std::size_t i = 0; i < 4; ++i)
    std::printf("⟨row %zu, x⟩ = %.6f\n", i, product(jacobian_row(x, gain, epsilon, i).values(), x.values()));

  std::printf("\n5. Is the hand-derived backward right? Differences know only the forward\n");
  Rng rng(7);
  const Tensor xs = random_uniform({3, 4}, rng), gains = random_uniform({4}, rng);
  const GradCheckResult result =
      gradcheck("rms_norm", {{"x", xs}, {"gain", gains}}, [=] { return rms_norm(xs, gains, 1e-5); });
  std::printf("%s, error %s 1e-7\n", result.passed() ? "passed" : result.failure.c_str(),
              result.error < 1e-7 ? "below" : "above");

  std::printf("\n6. Where epsilon stands matters when x is small\n");
  const Tensor small = Tensor::full({4}, 1e-4);
  print_row("inside the root", rms_norm(small, gain, epsilon).values());
  std::printf("%-28s %9.5f   (1e-4 / (1e-4 + 1e-5))\n", "outside it", 1e-4 / (1e-4 + 1e-5));
  return result.passed() ? 0 : 1;
}
