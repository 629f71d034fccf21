#include "nn/text/generate.h"

#include <algorithm>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/ops/slice.h"
#include "nn/kv_cache.h"

namespace gradus::nn {

namespace {

using Rows = std::vector<std::size_t>;

// Reads texts and calls `each` with the logits for the token behind each of them.
//
// With a cache only the tokens that it does not have yet go through the layers. Once a text is longer than the context,
// every token moves to another position with each step, and a cache can save nothing: such a row leaves it.
class Reader {
 public:
  // Capacity of the cache in tokens; 0: no cache.
  Reader(const LanguageModel& model, std::size_t capacity) : model_(model), capacity_(capacity) {}

  // `open`: the rows whose text goes on. They may only become fewer from call to call.
  template <class Each>
  void read(const std::vector<std::vector<int>>& texts, const Rows& open, Each&& each) {
    const std::size_t context = model_.context_length;
    Rows inside, outside;
    for (std::size_t row : open) (capacity_ > 0 && texts[row].size() <= context ? inside : outside).push_back(row);
    shrink_cache(inside);

    std::vector<std::span<const int>> unread;
    for (std::size_t i = 0; i < inside.size(); ++i)
      unread.push_back(std::span(texts[inside[i]]).subspan(cache_->length(i)));
    read_rows(inside, unread, cache_ ? &*cache_ : nullptr, each);

    unread.clear();
    for (std::size_t row : outside)
      unread.push_back(std::span(texts[row]).last(std::min(texts[row].size(), context)));
    read_rows(outside, unread, nullptr, each);
  }

 private:
  void shrink_cache(const Rows& rows) {
    if (!cache_ && cached_.empty() && !rows.empty()) {
      cache_.emplace(model_.cache, rows.size(), capacity_);
    } else if (rows.empty()) {
      cache_.reset();
    } else if (rows.size() < cached_.size()) {
      Rows places;
      for (std::size_t row : rows) places.push_back(std::ranges::find(cached_, row) - cached_.begin());
      cache_->keep_rows(places);
    }
    cached_ = rows;
  }

  // Shorter rows are padded on the left: every row's last token stands in the last column, the only one that goes
  // through the head.
  template <class Each>
  void read_rows(const Rows& rows, const std::vector<std::span<const int>>& tokens, KVCache* cache, Each&& each) const {
    if (rows.empty()) return;
    const std::size_t time = std::ranges::max(tokens, {}, &std::span<const int>::size).size();
    std::vector<int> ids, valid;
    bool padded = false;
    for (std::span<const int> row : tokens) {
      const std::size_t missing = time - row.size();
      padded |= missing > 0;
      ids.insert(ids.end(), missing, 0);
      ids.insert(ids.end(), row.begin(), row.end());
      valid.insert(valid.end(), missing, 0);
      valid.insert(valid.end(), row.size(), 1);
    }
    if (!padded) valid.clear();
    const Tensor h = model_.hidden(ids, rows.size(), {.cache = cache, .valid = valid});
    const Tensor logits = model_.logits(slice(h, 1, time - 1, time));
    const std::size_t V = logits.extent(2);
    for (std::size_t i = 0; i < rows.size(); ++i) each(rows[i], logits.values().subspan(i * V, V));
  }

  const LanguageModel& model_;
  std::size_t capacity_;
  std::optional<KVCache> cache_;
  Rows cached_;  // row i of the cache is this row's
};

}  // namespace

bool GenerateOptions::ends_with(int id) const {
  return !ignore_end && (id == end_token || std::ranges::count(more_end_tokens, id) > 0);
}

std::vector<std::vector<int>> generate_batch(const LanguageModel& model, std::span<const std::vector<int>> prompts,
                                             const GenerateOptions& options, std::span<const Sampler> samplers,
                                             const std::function<void(std::size_t, int)>& on_token) {
  expect(samplers.size() == prompts.size(), "generate: {} prompts need as many samplers, and there are {}",
         prompts.size(), samplers.size());
  std::size_t longest = 0;
  Rows open;
  for (std::size_t row = 0; row < prompts.size(); ++row) {
    expect(!prompts[row].empty(), "generate: prompt {} is empty; there must be at least one token to continue", row);
    longest = std::max(longest, prompts[row].size());
    open.push_back(row);
  }
  const NoGrad guard;
  std::vector<std::vector<int>> texts(prompts.begin(), prompts.end());
  Reader reader(model, options.cache ? std::min(model.context_length, longest + options.tokens) : 0);
  for (std::size_t step = 0; step < options.tokens && !open.empty(); ++step) {
    Rows ended;
    reader.read(texts, open, [&](std::size_t row, std::span<const Real> logits) {
      const int id = samplers[row](logits, texts[row]);
      texts[row].push_back(id);
      if (on_token) on_token(row, id);
      if (options.ends_with(id) || (options.stop && options.stop(row))) ended.push_back(row);
    });
    std::erase_if(open, [&](std::size_t row) { return std::ranges::count(ended, row) > 0; });
  }
  for (std::size_t row = 0; row < prompts.size(); ++row)
    texts[row].erase(texts[row].begin(), texts[row].begin() + static_cast<std::ptrdiff_t>(prompts[row].size()));
  return texts;
}

std::vector<int> generate(const LanguageModel& model, std::span<const int> prompt, const GenerateOptions& options,
                          const Sampler& sampler, const std::function<void(int)>& on_token) {
  const std::vector<int> prompts[] = {{prompt.begin(), prompt.end()}};
  const auto report = [&](std::size_t, int id) {
    if (on_token) on_token(id);
  };
  return generate_batch(model, prompts, options, std::span(&sampler, 1), report).front();
}

std::vector<int> generate(const LanguageModel& model, std::span<const int> prompt, const GenerateOptions& options, Rng& rng,
                          const std::function<void(int)>& on_token) {
  options.sampler.validate();
  const Sampler sampler = [&](std::span<const Real> logits, std::span<const int> context) {
    return sample(logits, options.sampler, rng, context);
  };
  return generate(model, prompt, options, sampler, on_token);
}

}  // namespace gradus::nn
