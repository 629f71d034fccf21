// Random numbers that are the same under every compiler, standard library and thread count.
//
// Philox 4×32 with ten rounds: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
// It is a function from a counter and a key to 128 random bits: number i of a sequence can be computed without
// the ones before it, by any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace gradus {

// The bare function.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// A range of the sequence that was set aside for a loop: item i has its own number in [0, 1).
class RandomRange {
 public:
  RandomRange(std::uint64_t seed, std::uint64_t stream, std::uint64_t first_block)
      : seed_(seed), stream_(stream), first_block_(first_block) {}
  double uniform(std::uint64_t item) const;
  // The numbers of the items first, first + 1, …: the same, many times as fast. `first` is a multiple of 4.
  void fill(std::uint64_t first, std::span<double> numbers) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t first_block_;
};

class Rng {
 public:
  // Every seed is an ordinary seed, 0 too. Streams of one seed do not overlap.
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint32_t bits();               // 32 random bits
  double uniform();                   // [0, 1), a multiple of 2⁻³²
  double normal();                    // mean 0, variance 1
  std::uint64_t below(std::uint64_t bound);  // 0 … bound − 1, each equally likely. Errors: bound is 0
  RandomRange reserve(std::uint64_t items);  // numbers for a loop; the generator goes on behind them

  // What a checkpoint keeps: a generator made from a state goes on where the other stood.
  struct State {
    std::uint64_t seed = 0;
    std::uint64_t stream = 0;
    std::uint64_t block = 0;
    std::uint32_t used = 4;  // of the current block's four numbers
    bool operator==(const State&) const = default;
  };
  State state() const { return state_; }
  explicit Rng(const State& state);

 private:
  State state_;
  std::array<std::uint32_t, 4> numbers_{};
};

}  // namespace gradus
