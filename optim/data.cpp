#include "optim/data.h"

#include <algorithm>

#include "autograd/error.h"
#include "autograd/ops/cross_entropy.h"

namespace gradus::optim {

std::size_t Batch::counted() const {
  return targets.size() - static_cast<std::size_t>(std::count(targets.begin(), targets.end(), ignore_index));
}

std::vector<std::uint64_t> state_words(const Rng::State& state) {
  return {state.seed, state.stream, state.block, state.used};
}

Rng::State state_of_words(std::span<const std::uint64_t> words) {
  expect(words.size() == 4 && words[3] <= 4,
         "data: a generator's state is a seed, a stream, a block and 0 to 4 numbers used of it, not {} numbers",
         words.size());
  return {words[0], words[1], words[2], static_cast<std::uint32_t>(words[3])};
}

}  // namespace gradus::optim
