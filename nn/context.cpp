#include "nn/context.h"

#include <algorithm>

#include "autograd/error.h"
#include "nn/kv_cache.h"

namespace gradus::nn {

TokenPlaces token_places(const Context& context, std::size_t batch, std::size_t time) {
  const std::span<const int> valid = context.valid;
  expect(valid.empty() || valid.size() == batch * time,
         "context: valid has {} numbers and must have one for each token of the call: {} rows of {} are {}",
         valid.size(), batch, time, batch * time);
  expect(std::ranges::all_of(valid, [](int v) { return v == 0 || v == 1; }),
         "context: valid must hold 1 for a token and 0 for padding, nothing else; it is not added to the scores");
  expect(context.cache == nullptr || context.cache->batch() == batch,
         "context: the cache has {} rows and the batch {}; a cache belongs to one batch",
         context.cache == nullptr ? 0 : context.cache->batch(), batch);
  expect(context.cache == nullptr || context.position == 0,
         "context: position is {}, and a cache was given; with a cache every row goes on behind its own last token",
         context.position);

  TokenPlaces places;
  for (std::size_t row = 0; row < batch; ++row) {
    std::size_t tokens = context.cache != nullptr ? context.cache->length(row) : context.position;
    std::size_t position = tokens;
    for (std::size_t column = 0; column < time; ++column) {
      if (valid.empty() || valid[row * time + column] == 1) position = tokens++;
      places.position.push_back(static_cast<int>(position++));
      places.visible.push_back(static_cast<int>(tokens));
    }
    places.length.push_back(tokens);
  }
  return places;
}

std::vector<std::size_t> last_tokens(std::span<const int> valid, std::size_t batch) {
  expect(batch > 0 && valid.size() % batch == 0, "last_tokens: a mask of {} numbers is not {} rows of equal length",
         valid.size(), batch);
  const std::size_t time = valid.size() / batch;
  std::vector<std::size_t> columns;
  for (std::size_t row = 0; row < batch; ++row) {
    std::size_t behind = time;
    while (behind > 0 && valid[row * time + behind - 1] == 0) --behind;
    expect(behind > 0, "last_tokens: row {} has no token, only padding", row);
    columns.push_back(behind - 1);
  }
  return columns;
}

}  // namespace gradus::nn
