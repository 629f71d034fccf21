// Reading with a cache is reading without one.
#include "nn/kv_cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "nn/decoder.h"

using namespace gradus;
using namespace gradus::nn;

namespace {

constexpr double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-5;

Config small(std::size_t n_heads = 4, std::size_t n_kv_heads = 2) {
  return {.vocab_size = 13, .width = 24, .n_layers = 2, .n_heads = n_heads, .n_kv_heads = n_kv_heads, .head_dim = 6,
          .hidden = 20, .context_length = 32, .query_key_norm = n_kv_heads == 1};
}

Decoder make(const Config& config) {
  Decoder decoder(config);
  Rng rng(1);
  for (Parameter parameter : parameters(decoder))
    for (Real& value : parameter.tensor.mutable_values()) value = static_cast<Real>(0.3 * rng.normal() + 0.1);
  return decoder;
}

std::vector<int> random_ids(std::size_t count, std::uint64_t seed = 3) {
  Rng rng(seed);
  std::vector<int> ids(count);
  for (int& id : ids) id = static_cast<int>(rng.below(13));
  return ids;
}

using Row = std::vector<Real>;

// The logits at column t of row b of (B, T, V).
Row logits_at(const Tensor& logits, std::size_t b, std::size_t t) {
  const std::size_t V = logits.extent(2);
  const std::span<const Real> row = logits.values().subspan((b * logits.extent(1) + t) * V, V);
  return {row.begin(), row.end()};
}

// Relative to the row's largest logit.
double difference(const Row& a, const Row& b) {
  double largest = 0, apart = 0;
  REQUIRE(std::ranges::all_of(a, [](Real logit) { return std::isfinite(logit); }));
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
    apart = std::max(apart, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return apart / largest;
}

Tensor read(const Decoder& decoder, std::span<const int> ids, std::size_t batch, const Context& context = {}) {
  const NoGrad guard;
  return decoder.logits(decoder.hidden(ids, batch, context));
}

// Rows of tokens, padded to one length.
struct Batch {
  std::size_t rows, time;
  std::vector<int> ids, valid;
};

// Columns begin … end − 1 of every row.
Batch columns(const Batch& batch, std::size_t begin, std::size_t end) {
  Batch part{batch.rows, end - begin, {}, {}};
  for (std::size_t b = 0; b < batch.rows; ++b)
    for (std::size_t t = begin; t < end; ++t) {
      part.ids.push_back(batch.ids[b * batch.time + t]);
      part.valid.push_back(batch.valid[b * batch.time + t]);
    }
  return part;
}

enum class Padding { none, left, right, mixed };

Batch padded(std::size_t rows, std::size_t time, Padding padding) {
  Batch batch{rows, time, random_ids(rows * time), std::vector<int>(rows * time, 1)};
  for (std::size_t b = 0; b < rows; ++b)
    for (std::size_t t = 0; t < time; ++t) {
      const std::size_t missing = 2 * b + 1;
      const bool token = padding == Padding::none || (padding == Padding::left && t >= missing) ||
                         (padding == Padding::right && t < time - missing) ||
                         (padding == Padding::mixed && (t + b) % 3 != 1);
      batch.valid[b * time + t] = token ? 1 : 0;
    }
  return batch;
}

// The row's tokens without the padding.
std::vector<int> tokens_of(const Batch& batch, std::size_t row) {
  std::vector<int> ids;
  for (std::size_t i = row * batch.time; i < (row + 1) * batch.time; ++i)
    if (batch.valid[i] == 1) ids.push_back(batch.ids[i]);
  return ids;
}

// The logits of each row read alone, unpadded, without a cache.
std::vector<Tensor> rows_alone(const Batch& batch, const Decoder& decoder) {
  std::vector<Tensor> alone;
  for (std::size_t b = 0; b < batch.rows; ++b) alone.push_back(read(decoder, tokens_of(batch, b), 1));
  return alone;
}

// The largest difference of a token's logits from those of its row read alone.
double difference(const Batch& batch, const std::vector<Tensor>& alone,
                  const std::function<Row(std::size_t, std::size_t)>& logits) {
  double largest = 0;
  for (std::size_t b = 0; b < batch.rows; ++b) {
    std::size_t token = 0;
    for (std::size_t t = 0; t < batch.time; ++t)
      if (batch.valid[b * batch.time + t] == 1)
        largest = std::max(largest, difference(logits(b, t), logits_at(alone[b], 0, token++)));
  }
  return largest;
}

constexpr std::size_t heads[][2] = {{4, 4}, {4, 2}, {4, 1}, {6, 3}};
constexpr Padding paddings[] = {Padding::none, Padding::left, Padding::right, Padding::mixed};

}  // namespace

TEST_CASE("one pass, any chunks and token by token with a cache give what reading without one gives") {
  constexpr std::size_t T = 17;
  for (const auto& [H, G] : heads) {
    Decoder decoder = make(small(H, G));
    for (const AttentionKind kind : {AttentionKind::fused, AttentionKind::composed}) {
      decoder.set_attention(kind);
      for (const std::size_t rows : {1, 3})
        for (const Padding padding : paddings) {
          const Batch batch = padded(rows, T, padding);
          const std::vector<Tensor> alone = rows_alone(batch, decoder);
          for (const std::size_t chunk : {T, std::size_t{1}, std::size_t{5}}) {
            INFO("H ", decoder.config.n_heads, ", G ", decoder.config.n_kv_heads, ", rows ", rows, ", padding ", static_cast<int>(padding), ", chunk ", chunk);
            KVCache cache(decoder.config, rows, 20);
            std::vector<Tensor> logits;
            for (std::size_t begin = 0; begin < T; begin += chunk) {
              const Batch part = columns(batch, begin, std::min(begin + chunk, T));
              logits.push_back(read(decoder, part.ids, rows, {.cache = &cache, .valid = part.valid}));
            }
            CHECK(difference(batch, alone, [&](std::size_t b, std::size_t t) {
                    return logits_at(logits[t / chunk], b, t % chunk);
                  }) < tolerance);
            for (std::size_t b = 0; b < rows; ++b) CHECK(cache.length(b) == tokens_of(batch, b).size());
          }
        }
    }
  }
}

TEST_CASE("padding on the left, on the right or between tokens changes no token's logits, without a cache either") {
  for (const auto& [H, G] : heads) {
    Decoder decoder = make(small(H, G));
    for (const AttentionKind kind : {AttentionKind::fused, AttentionKind::composed}) {
      decoder.set_attention(kind);
      for (const Padding padding : paddings) {
        Batch batch = padded(3, 17, padding);
        const Tensor logits = read(decoder, batch.ids, 3, {.valid = batch.valid});
        CHECK(difference(batch, rows_alone(batch, decoder), [&](std::size_t b, std::size_t t) {
                return logits_at(logits, b, t);
              }) < tolerance);
        CHECK(std::ranges::all_of(logits.values(), [](Real logit) { return std::isfinite(logit); }));

        for (std::size_t i = 0; i < batch.ids.size(); ++i)
          if (batch.valid[i] == 0) batch.ids[i] = (batch.ids[i] + 5) % 13;
        const Tensor again = read(decoder, batch.ids, 3, {.valid = batch.valid});
        for (std::size_t i = 0; i < batch.ids.size(); ++i)
          if (batch.valid[i] == 1)
            CHECK(difference(logits_at(logits, i / 17, i % 17), logits_at(again, i / 17, i % 17)) == 0);
      }
    }
  }
}

TEST_CASE("padding gets no gradient: the id that stands there alone is never learned") {
  for (const AttentionKind kind : {AttentionKind::fused, AttentionKind::composed}) {
    Config config = small();
    config.tied_head = false;
    Decoder decoder = make(config);
    decoder.set_attention(kind);
    std::vector<int> ids = random_ids(2 * 6), targets = random_ids(2 * 6, 4);
    const std::vector<int> valid = {0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0};
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = valid[i] == 0 ? 12 : ids[i] % 12;
      if (valid[i] == 0) targets[i] = -100;
    }
    decoder.loss(ids, targets, 2, {.valid = valid}).backward();
    for (const Real slope : decoder.embedding.weight.grad().subspan(12 * 24, 24)) CHECK(slope == 0);
    for (const Parameter& parameter : parameters(decoder))
      for (const Real slope : parameter.tensor.grad()) REQUIRE(std::isfinite(slope));
  }
}

// A mask that one path forgets lets the model read what it should predict.
TEST_CASE("changing a later token never changes an earlier logit, on any path") {
  constexpr std::size_t T = 9, changed = 5;
  Config config = small();
  config.dropout = 0.3;
  Decoder decoder = make(config);
  for (const AttentionKind kind : {AttentionKind::fused, AttentionKind::composed}) {
    decoder.set_attention(kind);
    for (const std::size_t rows : {1, 3})
      for (const bool with_dropout : {false, true})
        for (const bool with_cache : {false, true}) {
          INFO("rows ", rows, ", dropout ", with_dropout, ", cache ", with_cache);
          std::vector<int> ids = random_ids(rows * T);
          const auto run = [&] {
            Rng rng(7);
            KVCache cache(config, rows, T);
            return read(decoder, ids, rows,
                        {.dropout = with_dropout ? &rng : nullptr, .cache = with_cache ? &cache : nullptr});
          };
          const Tensor before = run();
          for (std::size_t b = 0; b < rows; ++b) ids[b * T + changed] = (ids[b * T + changed] + 1) % 13;
          const Tensor after = run();
          for (std::size_t b = 0; b < rows; ++b)
            for (std::size_t t = 0; t < T; ++t) {
              const double apart = difference(logits_at(after, b, t), logits_at(before, b, t));
              if (t < changed) CHECK(apart < tolerance);
              if (t == changed) CHECK(apart > 1e-3);
            }
        }
  }
}

TEST_CASE("greedy writing is the same with a cache and without, for prompts of 1, 2, half and all but one token") {
  const Decoder decoder = make(small());
  for (const std::size_t prompt : {1, 2, 16, 31}) {
    std::vector<int> ids = random_ids(prompt);
    KVCache cache(decoder.config, 1, 32);
    Tensor cached = read(decoder, ids, 1, {.cache = &cache});
    while (true) {
      const Tensor whole = read(decoder, ids, 1);
      const Row expected = logits_at(whole, 0, ids.size() - 1), found = logits_at(cached, 0, cached.extent(1) - 1);
      CHECK(difference(found, expected) < tolerance);
      const auto best = [](const Row& row) { return std::ranges::max_element(row) - row.begin(); };
      REQUIRE(best(found) == best(expected));
      if (ids.size() == 32) break;
      ids.push_back(static_cast<int>(best(found)));
      cached = read(decoder, std::span(ids).last(1), 1, {.cache = &cache});
    }
  }
}

TEST_CASE("a cleared cache reads as a new one") {
  const Decoder decoder = make(small());
  const std::vector<int> first = random_ids(12), second = random_ids(7, 5);
  KVCache cache(decoder.config, 1, 16);
  read(decoder, first, 1, {.cache = &cache});
  cache.clear();
  CHECK(cache.length(0) == 0);
  const Tensor again = read(decoder, second, 1, {.cache = &cache});
  const Tensor alone = read(decoder, second, 1);
  for (std::size_t t = 0; t < 7; ++t) CHECK(difference(logits_at(again, 0, t), logits_at(alone, 0, t)) < tolerance);
}

TEST_CASE("rows that stay in a cache read on as if the others had never been there") {
  const Decoder decoder = make(small());
  const Batch batch = padded(3, 9, Padding::left);
  KVCache cache(decoder.config, 3, 16);
  read(decoder, batch.ids, 3, {.cache = &cache, .valid = batch.valid});
  const std::vector<std::size_t> kept = {2, 0};
  cache.keep_rows(kept);
  CHECK(cache.batch() == 2);
  CHECK(cache.bytes() == 2 * 2 * 2 * 6 * 2 * 16 * sizeof(Real));
  const std::vector<int> next = {5, 7};
  const Tensor logits = read(decoder, next, 2, {.cache = &cache});
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<int> whole = tokens_of(batch, kept[i]);
    whole.push_back(next[i]);
    CHECK(cache.length(i) == whole.size());
    CHECK(difference(logits_at(logits, i, 0), logits_at(read(decoder, whole, 1), 0, whole.size() - 1)) < tolerance);
  }
  const std::vector<std::size_t> absent = {0, 2};
  CHECK_THROWS_WITH_AS(cache.keep_rows(absent), "kv_cache: there is no row 2; there are 2", ShapeError);
  CHECK_THROWS_WITH_AS(cache.keep_rows({}),
                       "kv_cache: no row would be left; a cache that nobody needs can go as a whole", ShapeError);
  CHECK(cache.batch() == 2);
}

TEST_CASE("a row of padding leaves its row as it was, and an empty call is refused") {
  const Decoder decoder = make(small());
  for (const bool composed : {false, true}) {
    Decoder model = decoder;
    model.set_attention(composed ? AttentionKind::composed : AttentionKind::fused);
    KVCache cache(model.config, 2, 16);
    const std::vector<int> ids = random_ids(2 * 3), none(6, 0), first_only = {1, 1, 1, 0, 0, 0};
    const Tensor nothing = read(model, ids, 2, {.cache = &cache, .valid = none});
    for (const Real value : nothing.values()) CHECK(std::isfinite(value));
    CHECK(cache.length(0) == 0);
    read(model, ids, 2, {.cache = &cache, .valid = first_only});
    CHECK(cache.length(0) == 3);
    CHECK(cache.length(1) == 0);
    CHECK_THROWS_AS(read(model, {}, 2, {.cache = &cache}), ShapeError);
    CHECK(cache.length(0) == 3);
  }
}

TEST_CASE("a cache keeps keys and values once for all query heads, and takes its memory at once") {
  KVCache cache(small(), 3, 20);
  CHECK(cache.elements_per_token() == 2 * 2 * 2 * 6);
  CHECK(cache.bytes() == 2 * 2 * 2 * 6 * 3 * 20 * sizeof(Real));
  const Decoder decoder = make(small());
  const Real* const buffer = cache.keys(1).values().data();
  const std::vector<int> ids = random_ids(3 * 20);
  read(decoder, ids, 3, {.cache = &cache});
  CHECK(cache.keys(1).values().data() == buffer);
  CHECK(cache.length(2) == 20);
}

TEST_CASE("a row past the cache or past the context is refused with both numbers, and the cache stays as it was") {
  const Decoder decoder = make(small());
  KVCache cache(decoder.config, 1, 20), long_cache(decoder.config, 1, 40);
  const std::vector<int> ids = random_ids(33);
  const auto first = [&](std::size_t count) { return std::span(ids).first(count); };
  read(decoder, first(18), 1, {.cache = &cache});
  CHECK_THROWS_WITH_AS(read(decoder, first(3), 1, {.cache = &cache}),
                       "kv_cache: row 0 has 18 tokens, 3 more make 21, and the capacity is 20; make a larger cache, or "
                       "clear it and read the last tokens again",
                       ShapeError);
  CHECK(cache.length(0) == 18);
  read(decoder, first(2), 1, {.cache = &cache});
  CHECK(cache.length(0) == 20);

  read(decoder, first(32), 1, {.cache = &long_cache});
  CHECK_THROWS_WITH_AS(read(decoder, first(1), 1, {.cache = &long_cache}),
                       "decoder: 1 tokens from position 32 need a context of 33, and context_length is 32; shorten the "
                       "input or slide a window over it",
                       ShapeError);
  CHECK(long_cache.length(0) == 32);
  // 33 columns of which one is padding are 32 tokens.
  std::vector<int> valid(33, 1);
  valid[0] = 0;
  CHECK_NOTHROW(read(decoder, ids, 1, {.valid = valid}));
}

// A cache that is filled in training grows, and cuts the gradient off.
TEST_CASE("a cache is refused while gradients are recorded") {
  const Decoder decoder = make(small());
  KVCache cache(decoder.config, 1, 20);
  CHECK_THROWS_WITH_AS(decoder.hidden(random_ids(3), 1, {.cache = &cache}),
                       "kv_cache: gradients are being recorded, and none goes back through a cache; put a NoGrad guard "
                       "around the call, or train without a cache",
                       ShapeError);
  CHECK(cache.length(0) == 0);
}

#ifndef GRADUS_SANITIZED  // which keeps freed memory for a while
// In pages of the system; 0 where it does not tell.
static std::size_t resident_memory() {
  std::size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident;
}

TEST_CASE("training and reading with a cache in turn leaves no memory behind") {
  const Decoder decoder = make(small());
  const std::vector<int> ids = random_ids(2 * 16);
  const auto steps = [&](int count) {
    for (int i = 0; i < count; ++i) {
      decoder.loss(ids, ids, 2).backward();
      for (Parameter parameter : parameters(decoder)) parameter.tensor.clear_grad();
      KVCache cache(decoder.config, 2, 16);
      read(decoder, ids, 2, {.cache = &cache});
    }
  };
  steps(50);
  const std::size_t after_50 = resident_memory();
  steps(450);
  CHECK(static_cast<double>(resident_memory()) <= 1.05 * static_cast<double>(after_50));
}
#endif

TEST_CASE("a cache of another model or of nothing is refused") {
  const Decoder decoder = make(small());
  KVCache wide({2, 3, 6}, 1, 20), shallow({1, 2, 6}, 1, 20);
  CHECK_THROWS_WITH_AS(read(decoder, random_ids(3), 1, {.cache = &wide}),
                       "kv_cache: key (1, 3, 12) and value (1, 3, 12) must be (1, 3, 18); is the cache another "
                       "model's?",
                       ShapeError);
  CHECK_THROWS_WITH_AS(read(decoder, random_ids(3), 1, {.cache = &shallow}),
                       "kv_cache: there is no layer 1; there are 1", ShapeError);
  CHECK_THROWS_AS(KVCache(small(), 0, 20), ShapeError);
  CHECK_THROWS_AS(KVCache(small(), 1, 0), ShapeError);
}
