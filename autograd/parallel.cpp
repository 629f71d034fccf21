#include "autograd/parallel.h"

#include <atomic>

#include "autograd/error.h"

namespace gradus {

static std::atomic<std::size_t>& threads() {
#ifdef _OPENMP
  static std::atomic<std::size_t> count{static_cast<std::size_t>(omp_get_max_threads())};
#else
  static std::atomic<std::size_t> count{1};
#endif
  return count;
}

std::size_t thread_count() { return threads().load(std::memory_order_relaxed); }

void set_thread_count(std::size_t count) {
  expect(count >= 1 && count <= 1024, "threads: {} is not between 1 and 1024", count);
#ifdef _OPENMP
  threads() = count;
#endif
}

// The shortest of many empty regions is what waking the threads costs when nothing disturbs it.
static std::size_t measure_threshold() {
#ifdef _OPENMP
  using clock = std::chrono::steady_clock;
  double shortest = 1e-3;
  for (int attempt = 0; attempt < 200; ++attempt) {
    const auto start = clock::now();
#pragma omp parallel num_threads(static_cast<int>(thread_count()))
    {
    }
    shortest = std::min(shortest, std::chrono::duration<double>(clock::now() - start).count());
  }
  constexpr double operations_per_second = 4e9;
  // Below 32768 operations there is little to gain, and much to lose where another program holds a core.
  return static_cast<std::size_t>(std::clamp(2 * shortest * operations_per_second, 32768.0, 1e6));
#else
  return static_cast<std::size_t>(-1);
#endif
}

std::size_t parallel_threshold() {
  static const std::size_t threshold = measure_threshold();
  return threshold;
}

}  // namespace gradus
