#include "optim/windows.h"

#include <algorithm>
#include <utility>

#include "autograd/error.h"
#include "autograd/ops/cross_entropy.h"

namespace gradus::optim {

Windows::Windows(std::vector<int> tokens, std::size_t context, double validation_fraction, std::uint64_t seed)
    : Windows(std::make_shared<TokensInMemory>(std::move(tokens)), context, validation_fraction, seed) {}

Windows::Windows(std::shared_ptr<const TokenSource> tokens, std::size_t context, double validation_fraction,
                 std::uint64_t seed)
    : tokens_(std::move(tokens)), context_(context), training_(tokens_->size()), rng_(seed) {
  expect(context > 0, "windows: a context of 0 tokens has nothing to predict; use 1 or more");
  expect(validation_fraction >= 0 && validation_fraction < 1,
         "windows: the validation part must be a fraction in [0, 1), not {}", validation_fraction);
  training_ -= static_cast<std::uint64_t>(static_cast<double>(tokens_->size()) * validation_fraction);
  const auto check_length = [&](const char* part, std::uint64_t length) {
    expect(length >= context + 1,
           "windows: the {} part is shorter than one window: {} < {} tokens, a context of {} and one target more; use "
           "more text or a shorter context",
           part, length, context + 1, context);
  };
  check_length("training", training_);
  if (validation_fraction > 0) check_length("validation", tokens_->size() - training_);
}

// A window of `length` targets, and padding behind it where that is less than the context.
void Windows::append(Batch& batch, std::uint64_t begin, std::size_t length) const {
  std::vector<int> window(length + 1);
  tokens_->read(begin, window);
  batch.inputs.insert(batch.inputs.end(), window.begin(), window.end() - 1);
  batch.inputs.resize(batch.inputs.size() + context_ - length, 0);
  batch.targets.insert(batch.targets.end(), window.begin() + 1, window.end());
  batch.targets.resize(batch.inputs.size(), ignore_index);
  ++batch.rows;
}

Batch Windows::training(std::size_t rows) {
  Batch batch;
  for (std::size_t row = 0; row < rows; ++row) append(batch, rng_.below(training_ - context_), context_);
  return batch;
}

std::size_t Windows::validation_rows() const {
  const std::uint64_t length = validation_tokens();
  return length == 0 ? 0 : (length - 1 + context_ - 1) / context_;
}

Batch Windows::validation(std::size_t first, std::size_t rows) const {
  Batch batch;
  const std::size_t end = std::min(validation_rows(), first + rows);
  for (std::size_t row = first; row < end; ++row) {
    const std::uint64_t begin = training_ + row * context_;
    append(batch, begin, std::min<std::uint64_t>(context_, tokens_->size() - 1 - begin));
  }
  return batch;
}

}  // namespace gradus::optim
