// The parallel loop. Nothing else in the library knows OpenMP's regions.
//
// A loop is cut into thread_count() pieces that depend on nothing else, so the same thread count gives the same
// sums. Whether the pieces run side by side or one after the other depends on the work: waking the threads has a
// price, measured once at start, and a short loop is faster without them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace gradus {

// Threads that a parallel loop uses: the machine's cores, or OMP_NUM_THREADS, until set.
std::size_t thread_count();
void set_thread_count(std::size_t count);

// Simple operations (a multiply-add on numbers in cache) that take as long as waking the threads twice.
std::size_t parallel_threshold();

// Marks the thread as working on a piece while it lives.
class InsidePiece {
 public:
  InsidePiece() : before_(inside_) { inside_ = true; }
  ~InsidePiece() { inside_ = before_; }
  InsidePiece(const InsidePiece&) = delete;
  InsidePiece& operator=(const InsidePiece&) = delete;
  static bool inside() { return inside_; }

 private:
  static inline constinit thread_local bool inside_ = false;
  bool before_;
};

// True inside a piece: loops in there run on the thread they are on. It is true as well where the pieces run one
// after the other because the work is short, so that a measured time decides nothing but the time.
inline bool in_parallel() {
#ifdef _OPENMP
  if (omp_in_parallel() != 0) return true;
#endif
  return InsidePiece::inside();
}

// Calls body(piece, begin, end) for thread_count() pieces of 0 … count. `work` is the simple operations per item.
template <class Body>
void parallel_pieces(std::size_t count, [[maybe_unused]] std::size_t work, const Body& body) {
  const std::size_t pieces = thread_count();
  const auto run = [&](std::size_t piece) {
    const std::size_t begin = count * piece / pieces, end = count * (piece + 1) / pieces;
    if (begin == end) return;
    if (pieces == 1 || count == 1) return body(piece, begin, end);
    const InsidePiece mark;
    body(piece, begin, end);
  };
#ifdef _OPENMP
  if (pieces > 1 && count > 1 && !in_parallel() && count * work >= parallel_threshold()) {
#pragma omp parallel for schedule(static, 1) num_threads(static_cast<int>(pieces))
    for (std::size_t piece = 0; piece < pieces; ++piece) run(piece);
    return;
  }
#endif
  for (std::size_t piece = 0; piece < pieces; ++piece) run(piece);
}

// Calls body(begin, end) for pieces of 0 … count, for loops whose items do not share an output.
template <class Body>
void parallel_for(std::size_t count, std::size_t work, const Body& body) {
  if (in_parallel() || count * work < parallel_threshold()) {
    if (count == 0) return;
    if (count == 1) return body(std::size_t{0}, count);
    const InsidePiece mark;
    body(std::size_t{0}, count);
  } else {
    parallel_pieces(count, work, [&](std::size_t, std::size_t begin, std::size_t end) { body(begin, end); });
  }
}

}  // namespace gradus
