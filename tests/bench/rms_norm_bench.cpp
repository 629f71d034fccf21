// rms_norm against the memory it moves. It reads x and writes y, so a memcpy of the same bytes is its limit; a backward
// reads x and dy and reads and writes dx. GB/s count the bytes read and written.
#include <benchmark/benchmark.h>

#include <cstring>

#include "autograd/gradcheck.h"
#include "autograd/graph.h"
#include "autograd/ops/rms_norm.h"

using namespace gradus;

static Shape shape_of(const benchmark::State& state) {
  return {static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1))};
}

static void count(benchmark::State& state, double tensors) {
  state.counters["GB/s"] =
      benchmark::Counter(1e-9 * tensors * static_cast<double>(shape_of(state).size() * sizeof(Real)),
                         benchmark::Counter::kIsIterationInvariantRate);
}

static void memcpy_of_x(benchmark::State& state) {
  const Tensor x = Tensor::zeros(shape_of(state));
  Tensor y(x.shape());
  for (auto _ : state) {
    std::memcpy(y.mutable_values().data(), x.values().data(), x.size() * sizeof(Real));
    benchmark::ClobberMemory();
  }
  count(state, 2);
}

template <Tensor form(const Tensor&, const Tensor&, double)>
static void forward(benchmark::State& state) {
  Rng rng(1);
  const Tensor x = random_uniform(shape_of(state), rng), gain = Tensor::full({x.shape().back()}, 1);
  const NoGrad no_grad;
  for (auto _ : state) benchmark::DoNotOptimize(form(x, gain, 1e-5));
  count(state, 2);
}

template <Tensor form(const Tensor&, const Tensor&, double)>
static void forward_backward(benchmark::State& state) {
  Rng rng(1);
  Tensor x = random_uniform(shape_of(state), rng).set_requires_grad();
  Tensor gain = Tensor::full({x.shape().back()}, 1).set_requires_grad();
  const Tensor cotangent = random_uniform(x.shape(), rng);
  for (auto _ : state) {
    form(x, gain, 1e-5).backward(cotangent);
    x.clear_grad();
    gain.clear_grad();
  }
  count(state, 6);
}

// Rows and their length: in the nearest caches, and in none.
static void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"rows", "n"})->Args({768, 128})->Args({16384, 1024})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK(memcpy_of_x)->Name("rms_norm/memcpy")->Apply(sizes);
BENCHMARK_TEMPLATE(forward, rms_norm)->Name("rms_norm/fused/forward")->Apply(sizes);
BENCHMARK_TEMPLATE(forward, rms_norm_composed)->Name("rms_norm/composed/forward")->Apply(sizes);
BENCHMARK_TEMPLATE(forward_backward, rms_norm)->Name("rms_norm/fused/forward_backward")->Apply(sizes);
BENCHMARK_TEMPLATE(forward_backward, rms_norm_composed)->Name("rms_norm/composed/forward_backward")->Apply(sizes);
