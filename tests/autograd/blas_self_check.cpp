// Is this machine's BLAS right? Compares it with the plain loops at three sizes. Exit status 1: it is not.
#include <cmath>
#include <cstdio>
#include <vector>

#include "autograd/gemm.h"
#include "autograd/random.h"

using namespace gradus;

// The largest difference, in units of what rounding a sum of `size` terms allows.
static double error_at(std::size_t size) {
  Rng rng(size);
  std::vector<Real> a(size * size), b(size * size), fast(size * size), plain(size * size);
  for (Real& value : a) value = static_cast<Real>(2 * rng.uniform() - 1);
  for (Real& value : b) value = static_cast<Real>(2 * rng.uniform() - 1);
  Gemm product{.m = size, .n = size, .k = size, .a = a.data(), .a_stride = size, .b = b.data(), .b_stride = size,
               .c = fast.data(), .c_stride = size};
  gemm(product);
  product.c = plain.data();
  gemm_plain(product);
  double worst = 0;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    const double difference = std::abs(static_cast<double>(fast[i]) - static_cast<double>(plain[i]));
    worst = std::isnan(difference) ? INFINITY : std::fmax(worst, difference);
  }
  return worst / ((sizeof(Real) == 8 ? 1e-14 : 5e-6) * std::sqrt(static_cast<double>(size)));
}

int main() {
  std::printf("matrix products by %s\n", gemm_backend().c_str());
  bool right = true;
  for (std::size_t size : {5, 64, 257}) {
    const double error = error_at(size);
    std::printf("%4zu x %-4zu %s (error %.2g of what rounding allows)\n", size, size, error <= 1 ? "right" : "WRONG",
                error);
    right = right && error <= 1;
  }
  return right ? 0 : 1;
}
