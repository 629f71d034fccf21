#include "autograd/buffer.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>
#include <vector>

using namespace gradus;

TEST_CASE("A buffer starts at a cache line") {
  for (std::size_t size : {0, 1, 17, 1000}) {
    const Buffer buffer(size);
    CHECK(buffer.allocated());
    CHECK(buffer.size() == size);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
  }
}

TEST_CASE("A moved buffer leaves nothing behind") {
  Buffer a(8);
  Real* const data = a.data();
  Buffer b = std::move(a);
  CHECK(b.data() == data);
  CHECK_FALSE(a.allocated());
  a = std::move(b);
  CHECK(a.data() == data);
}

static void one_round() {
  std::vector<Buffer> alive;
  for (std::size_t size = 1; size < 100000; size = size * 3 / 2 + 1) alive.emplace_back(size);
}

TEST_CASE("A second round of the same buffers takes nothing more from the system") {
  one_round();
  const std::size_t before = buffer_bytes_reserved();
  for (int round = 0; round < 5; ++round) one_round();
  CHECK(buffer_bytes_reserved() == before);
}

TEST_CASE("At most an eighth of a large block is wasted") {
  for (std::size_t size : {1000, 1023, 1025, 5000, 100001}) {
    release_unused_buffers();
    const std::size_t before = buffer_bytes_reserved();
    const Buffer buffer(size);
    const std::size_t taken = buffer_bytes_reserved() - before;
    CHECK(taken >= size * sizeof(Real));
    CHECK(taken <= size * sizeof(Real) * 9 / 8);
  }
}

TEST_CASE("Released memory goes back, and memory in use stays") {
  release_unused_buffers();
  const std::size_t before = buffer_bytes_reserved();
  Buffer kept(1000);
  { const Buffer dropped(50000); }
  kept.data()[999] = 5;
  release_unused_buffers();
  CHECK(buffer_bytes_reserved() - before < 2 * 1000 * sizeof(Real));
  CHECK(kept.data()[999] == 5);
}

TEST_CASE("Threads may take and return buffers at once, and none is given out twice") {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([t, &wrong] {
      for (int round = 0; round < 500; ++round) {
        Buffer a(64), b(200);
        a.data()[63] = static_cast<Real>(t);
        b.data()[199] = static_cast<Real>(t);
        if (a.data()[63] != static_cast<Real>(t) || b.data()[199] != static_cast<Real>(t)) ++wrong[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (int count : wrong) CHECK(count == 0);
}
