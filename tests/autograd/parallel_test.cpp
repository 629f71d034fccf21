#include "autograd/parallel.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "autograd/error.h"

using namespace gradus;

namespace {

struct Threads {
  std::size_t before = thread_count();
  ~Threads() { set_thread_count(before); }
};

constexpr std::size_t heavy = std::size_t{1} << 30;  // work that is always worth waking the threads for

}  // namespace

TEST_CASE("A parallel loop meets every item once, whatever the count, the work and the threads") {
  const Threads restore;
  for (std::size_t threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    for (std::size_t count : {0, 1, 2, 3, 10, 1001})
      for (std::size_t work : {std::size_t{1}, heavy}) {
        std::vector<int> met(count, 0);
        parallel_for(count, work, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) ++met[i];
        });
        parallel_pieces(count, work, [&](std::size_t, std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) ++met[i];
        });
        for (int times : met) CHECK(times == 2);
      }
  }
}

TEST_CASE("The pieces are the same however much the work") {
  const Threads restore;
  set_thread_count(3);
  const auto cuts = [](std::size_t work) {
    std::vector<std::size_t> begins(thread_count(), 0);
    parallel_pieces(10, work, [&](std::size_t piece, std::size_t begin, std::size_t) { begins.at(piece) = begin; });
    return begins;
  };
  CHECK(cuts(0) == cuts(heavy));
}

// A product inside a short loop was cut or not, depending on how long waking the threads took when it was measured.
TEST_CASE("A loop inside a piece stays on its thread, however much the work of the outer loop") {
  const Threads restore;
  set_thread_count(2);
  for (std::size_t work : {std::size_t{0}, heavy}) {
    std::vector<int> inside(4, 0);
    parallel_for(4, work, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        std::size_t calls = 0;
        const std::thread::id outer = std::this_thread::get_id();
        bool same_thread = true;
        parallel_for(1000, heavy, [&](std::size_t, std::size_t) {
          ++calls;
          same_thread = same_thread && std::this_thread::get_id() == outer;
        });
        inside[i] = in_parallel() && calls == 1 && same_thread ? 1 : 0;
      }
    });
    for (int right : inside) CHECK((right == 1 || thread_count() == 1));
    CHECK_FALSE(in_parallel());
  }
}

TEST_CASE("An exception out of a short loop leaves the next loops as they were") {
  CHECK_THROWS_AS(parallel_for(4, 0, [](std::size_t, std::size_t) { throw std::runtime_error("stop"); }),
                  std::runtime_error);
  CHECK_FALSE(in_parallel());
}

TEST_CASE("Loops may be started by several threads at once") {
  std::vector<double> sums(4, 0);
  std::vector<std::thread> threads;
  for (double& sum : sums)
    threads.emplace_back([&sum] {
      for (int round = 0; round < 50; ++round) {
        std::vector<double> parts(thread_count(), 0);
        parallel_pieces(100, heavy, [&](std::size_t piece, std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) parts[piece] += static_cast<double>(i);
        });
        for (double part : parts) sum += part;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (double sum : sums) CHECK(sum == 50 * 4950);
}

TEST_CASE("A number of threads that makes no sense is refused") {
  const std::size_t before = thread_count();
  CHECK_THROWS_WITH_AS(set_thread_count(0), "threads: 0 is not between 1 and 1024", ShapeError);
  CHECK_THROWS_WITH_AS(set_thread_count(5000), "threads: 5000 is not between 1 and 1024", ShapeError);
  CHECK(thread_count() == before);
}
