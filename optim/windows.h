// Training examples from one long text: windows of context + 1 tokens.
//
//   tokens    t₀ t₁ t₂ t₃ t₄          inputs   t₀ t₁ t₂ t₃
//                                     targets  t₁ t₂ t₃ t₄       each input's target is the token that follows it
//
// The end of the text is kept apart for validation, so that the model is judged on what it has never seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "autograd/random.h"
#include "optim/data.h"
#include "optim/token_source.h"

namespace gradus::optim {

class Windows : public Data {
 public:
  // The last `validation_fraction` of the tokens is for validation; with 0 there is none.
  // Errors: context is 0; the fraction is not in [0, 1); the training part is shorter than a window, or the
  // validation part, where there should be one.
  Windows(std::shared_ptr<const TokenSource> tokens, std::size_t context, double validation_fraction, std::uint64_t seed);
  Windows(std::vector<int> tokens, std::size_t context, double validation_fraction, std::uint64_t seed);

  std::size_t context() const { return context_; }
  std::uint64_t training_tokens() const { return training_; }
  std::uint64_t validation_tokens() const { return tokens_->size() - training_; }

  // Windows at random places of the training part, each place equally likely.
  Batch training(std::size_t rows) override;

  // Validation windows first … first + rows − 1, without overlap: each token but the first is a target once. What the last
  // one lacks is padding.
  std::size_t validation_rows() const override;
  Batch validation(std::size_t first, std::size_t rows) const override;

  std::vector<std::uint64_t> state() const override { return state_words(rng_.state()); }
  void restore(std::span<const std::uint64_t> state) override { rng_ = Rng(state_of_words(state)); }

 private:
  void append(Batch& batch, std::uint64_t begin, std::size_t length) const;

  std::shared_ptr<const TokenSource> tokens_;
  std::size_t context_;
  std::uint64_t training_;  // tokens before the validation part
  Rng rng_;
};

}  // namespace gradus::optim
