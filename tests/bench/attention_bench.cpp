// Attention, fused and composed, forward and with backward. The limit is the time of its matrix products alone, two
// forward and five backward, over the keys that a block of 32 query rows may see: all else (the exponentials, the sums
// of rows, the masks) adds to it. GFLOP/s count these products, so they compare directly.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "autograd/gemm.h"
#include "autograd/gradcheck.h"
#include "autograd/graph.h"
#include "autograd/ops/attention.h"
#include "autograd/parallel.h"

using namespace gradus;

namespace {

constexpr std::size_t block_rows = 32;  // as in autograd/ops/attention.cpp

struct Problem {
  std::size_t B, T, H, G, D;
  Tensor query, key, value, cotangent;

  explicit Problem(const benchmark::State& state)
      : B(extent(state, 0)), T(extent(state, 1)), H(extent(state, 2)), G(extent(state, 3)), D(extent(state, 4)) {
    Rng rng(1);
    query = random_uniform({B, T, H * D}, rng).set_requires_grad();
    key = random_uniform({B, T, G * D}, rng).set_requires_grad();
    value = random_uniform({B, T, G * D}, rng).set_requires_grad();
    cotangent = random_uniform({B, T, H * D}, rng);
  }

  static std::size_t extent(const benchmark::State& state, std::size_t i) {
    return static_cast<std::size_t>(state.range(i));
  }

  // Multiply-adds of one product, over the blocks that are computed.
  double product_size() const {
    double pairs = 0;
    for (std::size_t first = 0; first < T; first += block_rows) {
      const std::size_t end = std::min(T, first + block_rows);
      pairs += static_cast<double>((end - first) * end);
    }
    return pairs * static_cast<double>(B * H * D);
  }

  void count(benchmark::State& state, double products) const {
    state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * products * product_size(),
                                                   benchmark::Counter::kIsIterationInvariantRate);
  }

  void clear_grads() {
    for (Tensor* x : {&query, &key, &value}) x->clear_grad();
  }
};

}  // namespace

static void products_alone(benchmark::State& state, bool backward) {
  Problem p(state);
  Tensor weights({thread_count(), block_rows, p.T});
  const Real* const Q = p.query.values().data();
  const Real* const K = p.key.values().data();
  const Real* const DY = p.cotangent.values().data();
  Real* const DQ = p.query.mutable_grad().data();
  Real* const DK = p.key.mutable_grad().data();
  const std::size_t wide = p.H * p.D, narrow = p.G * p.D, group = p.H / p.G;
  for (auto _ : state) {
    parallel_pieces(p.B * p.G, 1 << 20, [&](std::size_t piece, std::size_t begin, std::size_t end) {
      Real* const W = weights.mutable_values().data() + piece * block_rows * p.T;
      for (std::size_t i = begin * group; i < end * group; ++i)
        for (std::size_t first = 0; first < p.T; first += block_rows) {
          const std::size_t rows = std::min(block_rows, p.T - first), keys = first + rows;
          const std::size_t q = (i / p.H * p.T + first) * wide + i % p.H * p.D;
          const std::size_t k = i / p.H * p.T * narrow + i % p.H / group * p.D;
          const Gemm scores{.op_b = Op::transpose, .m = rows, .n = keys, .k = p.D, .a = Q + q, .a_stride = wide,
                            .b = K + k, .b_stride = narrow, .c = W, .c_stride = p.T};
          const Gemm output{.m = rows, .n = p.D, .k = keys, .a = W, .a_stride = p.T, .b = K + k,
                            .b_stride = narrow, .c = DQ + q, .c_stride = wide};
          const Gemm dkey{.op_a = Op::transpose, .m = keys, .n = p.D, .k = rows, .a = W, .a_stride = p.T,
                          .b = DY + q, .b_stride = wide, .c = DK + k, .c_stride = narrow, .beta = 1};
          gemm(scores);
          gemm(output);
          if (!backward) continue;
          gemm(scores);
          gemm(scores);
          gemm(dkey);
          gemm(output);
          gemm(dkey);
        }
    });
  }
  p.count(state, backward ? 7 : 2);
}

static void products_forward(benchmark::State& state) { products_alone(state, false); }
static void products_backward(benchmark::State& state) { products_alone(state, true); }

static Tensor fused(const Problem& p) { return attention(p.query, p.key, p.value, {p.H, p.G}); }
static Tensor composed(const Problem& p) { return attention_composed(p.query, p.key, p.value, {p.H, p.G}).output; }

template <Tensor form(const Problem&)>
static void attention_forward(benchmark::State& state) {
  const Problem p(state);
  const NoGrad no_grad;
  for (auto _ : state) benchmark::DoNotOptimize(form(p));
  p.count(state, 2);
}

template <Tensor form(const Problem&)>
static void attention_forward_backward(benchmark::State& state) {
  Problem p(state);
  for (auto _ : state) {
    form(p).backward(p.cotangent);
    p.clear_grads();
  }
  p.count(state, 7);
}

// B, T = S, H, G, D: a small decoder while it trains, a larger one, and a long context.
static void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"B", "T", "H", "G", "D"});
  b->Args({12, 64, 4, 4, 32})->Args({4, 256, 8, 2, 64})->Args({1, 1024, 8, 2, 64});
  b->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK(products_forward)->Apply(sizes);
BENCHMARK_TEMPLATE(attention_forward, fused)->Apply(sizes);
BENCHMARK_TEMPLATE(attention_forward, composed)->Apply(sizes);
BENCHMARK(products_backward)->Apply(sizes);
BENCHMARK_TEMPLATE(attention_forward_backward, fused)->Apply(sizes);
BENCHMARK_TEMPLATE(attention_forward_backward, composed)->Apply(sizes);
