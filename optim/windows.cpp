#include "optim/windows.h"

#include <algorithm>
#include <utility>

#include "autograd/error.h"

namespace gradus::optim {

Windows::Windows(std::vector<int> tokens, std::size_t context, double validation_fraction, std::uint64_t seed)
    : tokens_(std::move(tokens)), context_(context), training_(tokens_.size()), rng_(seed) {
  expect(context > 0, "windows: a context of 0 tokens has nothing to predict; use 1 or more");
  expect(validation_fraction >= 0 && validation_fraction < 1,
         "windows: the validation part must be a fraction in [0, 1), not {}", validation_fraction);
  training_ -= static_cast<std::size_t>(static_cast<double>(tokens_.size()) * validation_fraction);
  const auto check_length = [&](const char* part, std::size_t length) {
    expect(length >= context + 1,
           "windows: the {} part is shorter than one window: {} < {} tokens, a context of {} and one target more; use "
           "more text or a shorter context",
           part, length, context + 1, context);
  };
  check_length("training", training_);
  if (validation_fraction > 0) check_length("validation", tokens_.size() - training_);
}

void Windows::append(Batch& batch, std::size_t begin) const {
  const auto window = tokens_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto length = static_cast<std::ptrdiff_t>(context_);
  batch.inputs.insert(batch.inputs.end(), window, window + length);
  batch.targets.insert(batch.targets.end(), window + 1, window + 1 + length);
  ++batch.rows;
}

Batch Windows::training(std::size_t rows) {
  Batch batch;
  for (std::size_t row = 0; row < rows; ++row) append(batch, rng_.below(training_ - context_));
  return batch;
}

std::size_t Windows::validation_rows() const {
  const std::size_t length = tokens_.size() - training_;
  return length == 0 ? 0 : (length - 1) / context_;
}

Batch Windows::validation(std::size_t first, std::size_t rows) const {
  Batch batch;
  const std::size_t end = std::min(validation_rows(), first + rows);
  for (std::size_t window = first; window < end; ++window) append(batch, training_ + window * context_);
  return batch;
}

}  // namespace gradus::optim
