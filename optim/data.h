// What the trainer learns from: rows of tokens, each with the token that should follow it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "autograd/random.h"

namespace gradus::optim {

// Rows of equal length; what a row lacks is padding on the right, whose targets are ignore_index.
struct Batch {
  std::vector<int> inputs;   // (rows, T)
  std::vector<int> targets;  // (rows, T); ignore_index: not counted
  std::size_t rows = 0;

  std::size_t counted() const;  // targets that are not ignore_index
};

class Data {
 public:
  virtual ~Data() = default;

  // The next rows to train on. training(3) and then training(5) give the rows of training(8), in that order.
  virtual Batch training(std::size_t rows) = 0;

  // Validation rows first … first + rows − 1, always the same ones; fewer at the end. Draws no random numbers.
  virtual std::size_t validation_rows() const = 0;
  virtual Batch validation(std::size_t first, std::size_t rows) const = 0;

  // What a checkpoint keeps: with it, the same rows follow. Errors: a state that is not of this kind of data.
  virtual std::vector<std::uint64_t> state() const = 0;
  virtual void restore(std::span<const std::uint64_t> state) = 0;
};

// A generator's state as such numbers, and back. Errors: not four numbers, or no state.
std::vector<std::uint64_t> state_words(const Rng::State& state);
Rng::State state_of_words(std::span<const std::uint64_t> words);

}  // namespace gradus::optim
