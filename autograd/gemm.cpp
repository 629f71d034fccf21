#include "autograd/gemm.h"

#include <algorithm>
#include <limits>

#include "autograd/error.h"
#include "autograd/parallel.h"

#ifdef GRADUS_BLAS
#include <cblas.h>

// Only OpenBLAS has these; with another CBLAS they are null.
extern "C" {
__attribute__((weak)) void openblas_set_num_threads(int);
__attribute__((weak)) char* openblas_get_config(void);
__attribute__((weak)) char* openblas_get_corename(void);
__attribute__((weak)) int openblas_get_parallel(void);
}
#endif

namespace gradus {

// c[i][j] ← alpha Σₖ a[i][k] b[k][j] + beta c[i][j]
void gemm_plain(const Gemm& g) {
  for (std::size_t i = 0; i < g.m; ++i) {
    Real* const c = g.c + i * g.c_stride;
    for (std::size_t j = 0; j < g.n; ++j) c[j] = g.beta == 0 ? Real{0} : g.beta * c[j];
    for (std::size_t p = 0; p < g.k; ++p) {
      const Real a = g.alpha * (g.op_a == Op::none ? g.a[i * g.a_stride + p] : g.a[p * g.a_stride + i]);
      if (g.op_b == Op::none)
        for (std::size_t j = 0; j < g.n; ++j) c[j] += a * g.b[p * g.b_stride + j];
      else
        for (std::size_t j = 0; j < g.n; ++j) c[j] += a * g.b[j * g.b_stride + p];
    }
  }
}

#ifdef GRADUS_BLAS

static int narrow(std::size_t extent) { return static_cast<int>(extent); }

static void gemm_one_thread(const Gemm& g) {
  // Some BLAS versions leave C as it was when there is nothing to add.
  if (g.m == 0 || g.n == 0 || g.k == 0) return gemm_plain(g);
  const auto op_a = g.op_a == Op::none ? CblasNoTrans : CblasTrans;
  const auto op_b = g.op_b == Op::none ? CblasNoTrans : CblasTrans;
#ifdef GRADUS_DOUBLE
  cblas_dgemm(
#else
  cblas_sgemm(
#endif
      CblasRowMajor, op_a, op_b, narrow(g.m), narrow(g.n), narrow(g.k), g.alpha, g.a, narrow(g.a_stride), g.b,
      narrow(g.b_stride), g.beta, g.c, narrow(g.c_stride));
}

static const bool one_threaded = [] {
  thread_count();  // settles the number first: an OpenBLAS built on OpenMP would lower OpenMP's own to 1
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
  return true;
}();

std::string gemm_backend() {
  if (openblas_get_config == nullptr || openblas_get_corename == nullptr) return "CBLAS (not OpenBLAS)";
  static constexpr const char* flavours[] = {"sequential", "pthread", "OpenMP"};
  const int flavour = openblas_get_parallel != nullptr ? openblas_get_parallel() : 0;
  return message("{}, {} flavour, kernel {}", openblas_get_config(), flavours[std::clamp(flavour, 0, 2)],
                 openblas_get_corename());
}

#else

static void gemm_one_thread(const Gemm& g) { gemm_plain(g); }

std::string gemm_backend() { return "plain loops (configured without BLAS)"; }

#endif

void gemm(const Gemm& g) {
  for (std::size_t extent : {g.m, g.n, g.k, g.a_stride, g.b_stride, g.c_stride})
    expect(extent <= std::numeric_limits<int>::max(), "gemm: an extent of {} is more than BLAS can count ({})", extent,
           std::numeric_limits<int>::max());
  const auto expect_rows_apart = [](const char* name, std::size_t stride, std::size_t row) {
    expect(stride >= row, "gemm: rows of {} are {} apart and {} long; a leading dimension counts the whole row", name,
           stride, row);
  };
  expect_rows_apart("a", g.a_stride, g.op_a == Op::none ? g.k : g.m);
  expect_rows_apart("b", g.b_stride, g.op_b == Op::none ? g.n : g.k);
  expect_rows_apart("c", g.c_stride, g.n);

  // A constant, not a measurement: where the cut lies can change the last bit.
  constexpr std::size_t worth_cutting = std::size_t{1} << 20;
  if (in_parallel() || g.m * g.n * g.k < worth_cutting) return gemm_one_thread(g);

  // Rows of C where it has enough of them, columns where it is short and wide: one token times a large matrix.
  const bool by_rows = g.m >= g.n || g.m >= 8 * thread_count();
  const std::size_t count = by_rows ? g.m : g.n, work = (by_rows ? g.n : g.m) * g.k;
  parallel_pieces(count, work, [&](std::size_t, std::size_t begin, std::size_t end) {
    Gemm piece = g;
    if (by_rows) {
      piece.m = end - begin;
      piece.a += g.op_a == Op::none ? begin * g.a_stride : begin;
      piece.c += begin * g.c_stride;
    } else {
      piece.n = end - begin;
      piece.b += g.op_b == Op::none ? begin : begin * g.b_stride;
      piece.c += begin;
    }
    gemm_one_thread(piece);
  });
}

}  // namespace gradus
