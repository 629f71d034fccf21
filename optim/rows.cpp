#include "optim/rows.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "autograd/error.h"
#include "autograd/ops/cross_entropy.h"
#include "optim/encode.h"

namespace gradus::optim {

static constexpr std::uint64_t first_stream = 1000;  // of the epochs' orders, apart from other uses of the seed

static void check(const std::vector<Example>& examples, const char* part, std::size_t context) {
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto& [ids, counted] = examples[i];
    expect(ids.size() >= 2, "rows: {} example {} has {} tokens; it needs one to read and one to predict", part, i, ids.size());
    expect(ids.size() <= context + 1, "rows: {} example {} has {} tokens, more than a context of {} and one target more", part,
           i, ids.size(), context);
    expect(counted.empty() || counted.size() == ids.size(), "rows: {} example {} has {} tokens and {} marks", part, i,
           ids.size(), counted.size());
    expect(counted.empty() || std::find(counted.begin() + 1, counted.end(), true) != counted.end(),
           "rows: {} example {} counts no target: nothing could be learnt from it", part, i);
  }
}

Rows::Rows(std::vector<Example> training, std::vector<Example> validation, std::size_t context, std::uint64_t seed,
           int padding)
    : training_(std::move(training)), validation_(std::move(validation)), seed_(seed), padding_(padding) {
  expect(!training_.empty(), "rows: there is no example to train on");
  check(training_, "training", context);
  check(validation_, "validation", context);
  shuffle();
}

// Fisher and Yates: the last place gets any of the examples, the one before it any of the others, …
void Rows::shuffle() {
  order_.resize(training_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  Rng rng(seed_, first_stream + epoch_);
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[rng.below(i)]);
}

void Rows::restore(std::span<const std::uint64_t> state) {
  expect(state.size() == 2 && state[1] < training_.size(), "rows: the state is not one of {} examples", training_.size());
  epoch_ = state[0];
  place_ = state[1];
  shuffle();
}

Batch Rows::batch_of(const std::vector<const Example*>& examples) const {
  std::size_t time = 0;
  for (const Example* example : examples) time = std::max(time, example->ids.size() - 1);
  Batch batch;
  for (const Example* example : examples) {
    const auto& [ids, counted] = *example;
    ++batch.rows;
    batch.inputs.insert(batch.inputs.end(), ids.begin(), ids.end() - 1);
    batch.inputs.resize(batch.rows * time, padding_);
    for (std::size_t i = 1; i < ids.size(); ++i)
      batch.targets.push_back(counted.empty() || counted[i] ? ids[i] : ignore_index);
    batch.targets.resize(batch.rows * time, ignore_index);
  }
  return batch;
}

Batch Rows::training(std::size_t rows) {
  std::vector<const Example*> examples;
  for (std::size_t row = 0; row < rows; ++row) {
    examples.push_back(&training_[order_[place_]]);
    if (++place_ == training_.size()) {
      place_ = 0;
      ++epoch_;
      shuffle();
    }
  }
  return batch_of(examples);
}

Batch Rows::validation(std::size_t first, std::size_t rows) const {
  std::vector<const Example*> examples;
  for (std::size_t row = first; row < std::min(first + rows, validation_.size()); ++row) examples.push_back(&validation_[row]);
  return batch_of(examples);
}

static void append_rows(std::vector<Example>& examples, const std::vector<int>& document, std::size_t context) {
  for (std::size_t begin = 0; begin + 1 < document.size(); begin += context) {
    const auto first = document.begin() + static_cast<std::ptrdiff_t>(begin);
    examples.push_back({{first, first + static_cast<std::ptrdiff_t>(std::min(context + 1, document.size() - begin))}, {}});
  }
}

Rows document_rows(const Corpus& corpus, const nn::Tokenizer& tokenizer, std::size_t context, double validation_fraction,
                   std::uint64_t seed) {
  expect(context > 0, "rows: a context of 0 tokens has nothing to predict; use 1 or more");
  expect(validation_fraction >= 0 && validation_fraction < 1, "rows: the validation part must be a fraction in [0, 1), not {}",
         validation_fraction);
  std::vector<Example> training;
  std::vector<std::size_t> first_rows;  // of the documents
  std::vector<int> document;
  encode_documents(corpus, tokenizer, [&](std::span<const int> ids, bool ends) {
    document.insert(document.end(), ids.begin(), ids.end());
    if (!ends) return;
    first_rows.push_back(training.size());
    append_rows(training, document, context);
    document.clear();
  });
  std::vector<Example> validation;
  const auto kept = static_cast<std::size_t>(static_cast<double>(first_rows.size()) * validation_fraction);
  if (kept > 0) {
    const auto boundary = training.begin() + static_cast<std::ptrdiff_t>(first_rows[first_rows.size() - kept]);
    validation.assign(std::move_iterator(boundary), std::move_iterator(training.end()));
    training.erase(boundary, training.end());
  }
  return Rows(std::move(training), std::move(validation), context, seed, tokenizer.end_token() == 0 ? 1 : 0);
}

}  // namespace gradus::optim
