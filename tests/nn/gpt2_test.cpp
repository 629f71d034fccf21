#include "nn/gpt2.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/ops/cross_entropy.h"
#include "nn/kv_cache.h"
#include "nn/text/generate.h"

using namespace gradus;
using namespace gradus::nn;

static constexpr double tolerance = sizeof(Real) == 8 ? 1e-12 : 2e-5;

static GPT2Config small() {
  return {.vocab_size = 11, .width = 12, .n_layers = 2, .n_heads = 3, .context_length = 9};
}

static GPT2 make(const GPT2Config& config) {
  GPT2 model(config);
  Rng rng(1);
  for_each_parameter(model, [&](const std::string&, Tensor& tensor) {
    for (Real& value : tensor.mutable_values()) value = static_cast<Real>(0.3 * rng.normal() + 0.1);
  });
  return model;
}

static std::vector<int> random_ids(std::size_t count, std::size_t vocab_size) {
  Rng rng(3);
  std::vector<int> ids(count);
  for (int& id : ids) id = static_cast<int>(rng.below(vocab_size));
  return ids;
}

static double largest_difference(std::span<const Real> a, std::span<const Real> b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(static_cast<double>(a[i] - b[i])));
  return largest;
}

static std::vector<std::string> names_and_shapes(const GPT2Config& config) {
  std::vector<std::string> list;
  for (const Parameter& parameter : parameters(GPT2(config)))
    list.push_back(parameter.name + " " + parameter.tensor.shape().text());
  return list;
}

TEST_CASE("GPT-2's parameters are exactly these, under these names") {
  GPT2Config config = small();
  config.n_layers = 1;
  CHECK(names_and_shapes(config) == std::vector<std::string>{
                                        "embedding.weight (11, 12)",
                                        "positions.weight (9, 12)",
                                        "layers.0.attention_norm.gain (12)",
                                        "layers.0.attention_norm.bias (12)",
                                        "layers.0.attention.query.weight (12, 12)",
                                        "layers.0.attention.query.bias (12)",
                                        "layers.0.attention.key.weight (12, 12)",
                                        "layers.0.attention.key.bias (12)",
                                        "layers.0.attention.value.weight (12, 12)",
                                        "layers.0.attention.value.bias (12)",
                                        "layers.0.attention.output.weight (12, 12)",
                                        "layers.0.attention.output.bias (12)",
                                        "layers.0.feed_forward_norm.gain (12)",
                                        "layers.0.feed_forward_norm.bias (12)",
                                        "layers.0.feed_forward.up.weight (48, 12)",
                                        "layers.0.feed_forward.up.bias (48)",
                                        "layers.0.feed_forward.down.weight (12, 48)",
                                        "layers.0.feed_forward.down.bias (12)",
                                        "norm.gain (12)",
                                        "norm.bias (12)",
                                    });
  config.bias = false;
  for (const std::string& name : names_and_shapes(config)) CHECK(name.find("bias") == std::string::npos);
}

TEST_CASE("GPT-2's parameter formula equals the module's own list, and gives the published count") {
  for (bool bias : {true, false}) {
    GPT2Config config = small();
    config.n_layers = 1;
    config.bias = bias;
    std::vector<std::string> table;
    for (const ParameterCount& row : config.parameter_table()) {
      std::string name = row.name;
      if (const std::size_t place = name.find(".N."); place != std::string::npos) name.replace(place, 3, ".0.");
      table.push_back(name + " " + row.shape.text());
    }
    CHECK(table == names_and_shapes(config));
    config.n_layers = 3;
    CHECK(config.parameter_count() == count_parameters(GPT2(config)));
  }
  CHECK(GPT2Config{}.parameter_count() == 124439808);
}

TEST_CASE("no token of GPT-2 sees a later one") {
  const GPT2 model = make(small());
  std::vector<int> ids = random_ids(2 * 9, 11);
  const Tensor before = model.logits(model.hidden(ids, 2));
  CHECK(before.shape() == Shape{2, 9, 11});
  for (std::size_t row : {0, 1}) ids[row * 9 + 6] = (ids[row * 9 + 6] + 1) % 11;
  const Tensor after = model.logits(model.hidden(ids, 2));
  for (std::size_t row : {0, 1}) {
    const auto part = [&](const Tensor& y, std::size_t from, std::size_t to) {
      return y.values().subspan((row * 9 + from) * 11, (to - from) * 11);
    };
    CHECK(largest_difference(part(before, 0, 6), part(after, 0, 6)) == 0);
    CHECK(largest_difference(part(before, 6, 9), part(after, 6, 9)) > 1e-3);
  }
}

TEST_CASE("GPT-2 tells positions apart: the same token at another place has another result") {
  const GPT2 model = make(small());
  const std::vector<int> ids = {4, 2};
  CHECK(largest_difference(model.hidden(ids, 1).values(), model.hidden(ids, 1, {.position = 3}).values()) > 1e-3);
}

TEST_CASE("padding anywhere changes no token of GPT-2, and positions count tokens") {
  const GPT2 model = make(small());
  const std::vector<int> tokens = random_ids(6, 11);
  const Tensor alone = model.hidden(tokens, 1);
  for (const std::vector<int>& valid : std::vector<std::vector<int>>{
           {1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, {0, 1, 1, 0, 0, 1, 1, 1, 0, 1}}) {
    std::vector<int> ids;
    for (std::size_t column = 0, token = 0; column < valid.size(); ++column) ids.push_back(valid[column] == 1 ? tokens[token++] : 5);
    const Tensor padded = model.hidden(ids, 1, {.valid = valid});
    for (std::size_t column = 0, token = 0; column < valid.size(); ++column)
      if (valid[column] == 1)
        CHECK(largest_difference(padded.values().subspan(column * 12, 12), alone.values().subspan(12 * token++, 12)) < tolerance);
  }
}

TEST_CASE("GPT-2 reads the same in one pass, in chunks and token by token with a cache") {
  const NoGrad guard;
  const std::vector<int> ids = random_ids(9, 11);
  for (AttentionKind kind : {AttentionKind::fused, AttentionKind::composed}) {
    GPT2 model = make(small());
    model.set_attention(kind);
    const Tensor whole = model.logits(model.hidden(ids, 1));
    for (const std::size_t step : {1, 2, 4, 9}) {
      KVCache cache(model.config, 1, 9);
      for (std::size_t begin = 0; begin < 9; begin += step) {
        const std::size_t count = std::min(step, 9 - begin);
        const Tensor part = model.logits(model.hidden(std::span(ids).subspan(begin, count), 1, {.cache = &cache}));
        CHECK(largest_difference(part.values(), whole.values().subspan(begin * 11, count * 11)) < 10 * tolerance);
      }
    }
  }
}

TEST_CASE("GPT-2 writes the same with a cache and without, alone and in a batch, past its context too") {
  const GPT2 model = make(small());
  const std::vector<std::vector<int>> prompts = {{4}, {1, 2, 3, 4, 5}, {7, 7, 7, 0, 1, 2, 3, 4, 5, 6, 7}};
  const auto seeded = [](std::uint64_t seed) { return make_sampler({}, Rng(seed)); };
  std::vector<std::vector<int>> alone;
  for (std::size_t row = 0; row < prompts.size(); ++row) {
    alone.push_back(generate(model, prompts[row], {.tokens = 20}, seeded(row)));
    CHECK(generate(model, prompts[row], {.tokens = 20, .cache = false}, seeded(row)) == alone[row]);
  }
  const std::vector<Sampler> samplers = {seeded(0), seeded(1), seeded(2)};
  CHECK(generate_batch(model, prompts, {.tokens = 20}, samplers) == alone);
}

TEST_CASE("GPT-2's composed and fused attention give the same loss and the same gradients") {
  const std::vector<int> ids = random_ids(2 * 8, 11);
  std::vector<int> targets(ids.rbegin(), ids.rend());
  targets[3] = ignore_index;
  std::vector<GPT2> models;
  for (AttentionKind kind : {AttentionKind::fused, AttentionKind::composed}) {
    GPT2Config config = small();
    config.attention = kind;
    const Tensor loss = models.emplace_back(make(config)).loss(ids, targets, 2);
    const Tensor logits = models.back().logits(models.back().hidden(ids, 2));
    CHECK(std::abs(loss.item() - cross_entropy(logits, targets).item()) < tolerance);
    loss.backward();
  }
  const std::vector<Parameter> fused = parameters(models[0]), composed = parameters(models[1]);
  for (std::size_t i = 0; i < fused.size(); ++i)
    CHECK(largest_difference(fused[i].tensor.grad(), composed[i].tensor.grad()) < 10 * tolerance);
}

TEST_CASE("GPT-2's dropout acts only where the context asks for it") {
  GPT2Config config = small();
  const std::vector<int> ids = random_ids(9, 11);
  const Tensor without = make(config).hidden(ids, 1);
  config.dropout = 0.5;
  const GPT2 model = make(config);
  CHECK(largest_difference(model.hidden(ids, 1).values(), without.values()) == 0);
  Rng rng(7);
  CHECK(largest_difference(model.hidden(ids, 1, {.dropout = &rng}).values(), without.values()) > 1e-3);
}

TEST_CASE("a fresh GPT-2 is as surprised as a coin with V sides") {
  GPT2Config config = small();
  config.width = 48;
  GPT2 model(config);
  Rng rng(5);
  initialise(model, rng);
  for (const Parameter& parameter : parameters(model)) {
    CAPTURE(parameter.name);
    double squares = 0;
    for (Real value : parameter.tensor.values()) squares += static_cast<double>(value * value);
    const double deviation = std::sqrt(squares / static_cast<double>(parameter.tensor.size()));
    const bool narrow = parameter.name.ends_with("output.weight") || parameter.name.ends_with("down.weight");
    if (parameter.name.ends_with("gain"))
      CHECK(deviation == 1);
    else if (parameter.name.ends_with("bias"))
      CHECK(deviation == 0);
    else
      CHECK(deviation == doctest::Approx(narrow ? 0.01 : 0.02).epsilon(0.15));
  }
  const std::vector<int> ids = random_ids(8, 11), targets(ids.rbegin(), ids.rend());
  CHECK(model.loss(ids, targets, 1).item() == doctest::Approx(std::log(11.0)).epsilon(0.05));
}

TEST_CASE("GPT-2's errors name the setting, its value and what would do") {
  GPT2Config config = small();
  config.n_heads = 5;
  CHECK_THROWS_WITH_AS(GPT2{config}, "gpt2: width 12 is not a multiple of n_heads 5; change one of them", ShapeError);
  config = small();
  config.n_layers = 0;
  CHECK_THROWS_WITH_AS(GPT2{config}, "gpt2: n_layers is 0; it must be 1 or more and below 2147483648", ShapeError);
  config = small();
  config.dropout = 1;
  CHECK_THROWS_WITH_AS(GPT2{config}, "gpt2: dropout must be in [0, 1), not 1", ShapeError);

  const GPT2 model = make(small());
  CHECK_THROWS_WITH_AS(model.hidden(random_ids(10, 11), 1),
                       "gpt2: row 0 has 10 tokens with those before it, and 9 positions are learned; shorten the input or "
                       "slide a window over it",
                       ShapeError);
  CHECK_THROWS_WITH_AS(model.hidden(random_ids(9, 11), 2),
                       "gpt2: 9 ids are not 2 rows of equal length; a batch is B·T ids, and neither may be 0",
                       ShapeError);
}
