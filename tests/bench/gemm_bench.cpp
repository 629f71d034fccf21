// The matrix product, step by step from its definition to the library's. A core that starts two vector multiply-adds a
// cycle does 4 · width FLOP a cycle (64 at 4 GHz and 8 floats: 256 GFLOP/s); BLAS comes near it, and what a plain loop
// lacks is the subject. m × n × k is C (m, n) = A (m, k) · B (k, n); GFLOP/s count a multiplication and an addition.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "autograd/gemm.h"
#include "autograd/gradcheck.h"
#include "autograd/parallel.h"

using namespace gradus;

// The definition as it is written: the inner loop steps down a column of B, a cache line for every number.
static void naive(const Gemm& g) {
  for (std::size_t i = 0; i < g.m; ++i)
    for (std::size_t j = 0; j < g.n; ++j) {
      Real sum = 0;
      for (std::size_t p = 0; p < g.k; ++p) sum += g.a[i * g.a_stride + p] * g.b[p * g.b_stride + j];
      g.c[i * g.c_stride + j] = sum;
    }
}

// Rows of C and B in the inner loop: neighbours in memory, so a vector at a time.
static void reordered(const Gemm& g) {
  for (std::size_t i = 0; i < g.m; ++i) {
    Real* const c = g.c + i * g.c_stride;
    std::fill(c, c + g.n, Real{0});
    for (std::size_t p = 0; p < g.k; ++p) {
      const Real a = g.a[i * g.a_stride + p];
      for (std::size_t j = 0; j < g.n; ++j) c[j] += a * g.b[p * g.b_stride + j];
    }
  }
}

// Four rows and 32 columns of C stay in registers while a column of A and a row of B pass by: a number of B is loaded
// once for four rows, and C is written once a panel. Panels of 256 rows of B stay in the nearest caches.
static void blocked(const Gemm& g) {
  constexpr std::size_t tile_rows = 4, tile_columns = 32, panel = 256;
  for (std::size_t p0 = 0; p0 < g.k; p0 += panel) {
    const std::size_t p1 = std::min(g.k, p0 + panel);
    for (std::size_t j0 = 0; j0 < g.n; j0 += tile_columns)
      for (std::size_t i0 = 0; i0 < g.m; i0 += tile_rows) {
        const std::size_t rows = std::min(tile_rows, g.m - i0), columns = std::min(tile_columns, g.n - j0);
        Real tile[tile_rows][tile_columns] = {};
        if (rows == tile_rows && columns == tile_columns) {
          for (std::size_t p = p0; p < p1; ++p)
            for (std::size_t i = 0; i < tile_rows; ++i)
              for (std::size_t j = 0; j < tile_columns; ++j)
                tile[i][j] += g.a[(i0 + i) * g.a_stride + p] * g.b[p * g.b_stride + j0 + j];
        } else {
          for (std::size_t p = p0; p < p1; ++p)
            for (std::size_t i = 0; i < rows; ++i)
              for (std::size_t j = 0; j < columns; ++j)
                tile[i][j] += g.a[(i0 + i) * g.a_stride + p] * g.b[p * g.b_stride + j0 + j];
        }
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < columns; ++j) {
            Real& c = g.c[(i0 + i) * g.c_stride + j0 + j];
            c = p0 == 0 ? tile[i][j] : c + tile[i][j];
          }
      }
  }
}

static void one_thread(const Gemm& g) {
  const std::size_t threads = thread_count();
  set_thread_count(1);
  gemm(g);
  set_thread_count(threads);
}

template <void product(const Gemm&)>
static void gemm_step(benchmark::State& state) {
  const auto extent = [&](std::size_t i) { return static_cast<std::size_t>(state.range(i)); };
  const std::size_t m = extent(0), n = extent(1), k = extent(2);
  Rng rng(1);
  const Tensor a = random_uniform({m, k}, rng), b = random_uniform({k, n}, rng);
  Tensor c({m, n});
  const Gemm g{.m = m, .n = n, .k = k, .a = a.values().data(), .a_stride = k, .b = b.values().data(), .b_stride = n,
               .c = c.mutable_values().data(), .c_stride = n};
  for (auto _ : state) {
    product(g);
    benchmark::ClobberMemory();
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(m * n * k), benchmark::Counter::kIsIterationInvariantRate);
}

// Squares, and the decoder's own products with 12 · 64 tokens.
static void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"m", "n", "k"});
  for (const int n : {64, 128, 256, 512, 1024}) b->Args({n, n, n});
  b->Args({768, 128, 128})->Args({768, 384, 128})->Args({768, 65, 128});
  b->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_TEMPLATE(gemm_step, naive)->Name("gemm/naive")->Apply(sizes);
BENCHMARK_TEMPLATE(gemm_step, reordered)->Name("gemm/reordered")->Apply(sizes);
BENCHMARK_TEMPLATE(gemm_step, blocked)->Name("gemm/blocked")->Apply(sizes);
BENCHMARK_TEMPLATE(gemm_step, one_thread)->Name("gemm/one_thread")->Apply(sizes);
BENCHMARK_TEMPLATE(gemm_step, gemm)->Name("gemm/all_threads")->Apply(sizes);
