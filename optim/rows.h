// Examples of unequal lengths, one a row: documents, or conversations of which only the answers count.
//
//   example   t₀ t₁ t₂ end            inputs    t₀ t₁ t₂ 0 0
//   counted    –  ✓  ✓   ✓            targets   t₁ t₂ end – –       padded on the right to the batch's longest row
//
// The end token is a target like any other: a model that never has to predict it never stops. Padding is never counted.
#pragma once

#include <string>
#include <vector>

#include "nn/text/tokenizer.h"
#include "optim/corpus.h"
#include "optim/data.h"

namespace gradus::optim {

struct Example {
  std::vector<int> ids;       // 2 or more
  std::vector<bool> counted;  // is the id a target? The first never is one; empty: all others are
};

class Rows : public Data {
 public:
  // Every epoch takes each training example once, in an order that the seed and the epoch decide.
  // Errors: no training example; one that is shorter than two tokens, longer than context + 1, or counts nothing.
  Rows(std::vector<Example> training, std::vector<Example> validation, std::size_t context, std::uint64_t seed,
       int padding = 0);

  Batch training(std::size_t rows) override;
  std::size_t validation_rows() const override { return validation_.size(); }
  Batch validation(std::size_t first, std::size_t rows) const override;
  std::vector<std::uint64_t> state() const override { return {epoch_, place_}; }
  void restore(std::span<const std::uint64_t> state) override;

  std::size_t training_rows() const { return training_.size(); }
  int padding() const { return padding_; }  // the id that fills a row up

 private:
  void shuffle();
  Batch batch_of(const std::vector<const Example*>& examples) const;

  std::vector<Example> training_, validation_;
  std::uint64_t seed_;
  int padding_;
  std::uint64_t epoch_ = 0, place_ = 0;
  std::vector<std::size_t> order_;  // of the epoch
};

// The corpus' documents as rows, each with its end token, where the tokenizer has one. A document that is longer than a row
// goes on in the next, whose first token is the one before's last, so that every token but the first is a target once.
// The last documents, about `validation_fraction` of them, are for validation.
// Errors: those of encode_documents() and of Rows; a context of 0; a fraction outside [0, 1).
Rows document_rows(const Corpus& corpus, const nn::Tokenizer& tokenizer, std::size_t context, double validation_fraction,
                   std::uint64_t seed);

}  // namespace gradus::optim
