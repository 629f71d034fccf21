#include "nn/decoder.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/cross_entropy.h"

using namespace gradus;
using namespace gradus::nn;

static constexpr double tolerance = sizeof(Real) == 8 ? 1e-12 : 2e-5;

static Decoder make(Config config, std::uint64_t seed = 1) {
  Decoder decoder(config);
  Rng rng(seed);
  // Far larger than an initialisation, so that attention is far from uniform.
  for (Parameter parameter : parameters(decoder))
    for (Real& value : parameter.tensor.mutable_values()) value = static_cast<Real>(0.3 * rng.normal() + 0.1);
  return decoder;
}

static std::vector<int> random_ids(std::size_t count, std::size_t vocab_size, std::uint64_t seed = 3) {
  Rng rng(seed);
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

static Config book() { return find_preset("book").config; }

TEST_CASE("the decoder's parameters are exactly these, under these names") {
  Config config = book();
  config.n_layers = 1;
  const std::vector<std::string> expected = {
      "embedding.weight (13, 32)",
      "layers.0.attention_norm.gain (32)",
      "layers.0.attention.query.weight (32, 32)",
      "layers.0.attention.key.weight (16, 32)",
      "layers.0.attention.value.weight (16, 32)",
      "layers.0.attention.output.weight (32, 32)",
      "layers.0.feed_forward_norm.gain (32)",
      "layers.0.feed_forward.gate.weight (64, 32)",
      "layers.0.feed_forward.up.weight (64, 32)",
      "layers.0.feed_forward.down.weight (32, 64)",
      "norm.gain (32)",
  };
  std::vector<std::string> found;
  for (const Parameter& parameter : parameters(Decoder(config)))
    found.push_back(parameter.name + " " + parameter.tensor.shape().text());
  CHECK(found == expected);
}

TEST_CASE("an untied head is a parameter of its own, a tied one is not") {
  Config config = book();
  CHECK(count_parameters(Decoder(config)) == 19008);
  CHECK(Decoder(config).head.weight.shape() == Shape{13, 32});
  config.tied_head = false;
  CHECK(count_parameters(Decoder(config)) == 19008 + 13 * 32);
}

TEST_CASE("biases and norms of queries and keys are parameters where the settings ask for them") {
  Config config = book();
  config.n_layers = 1;
  config.head_dim = 6;
  config.attention_bias = config.query_key_norm = true;
  std::vector<std::string> found;
  for (const Parameter& parameter : parameters(Decoder(config)))
    if (parameter.name.starts_with("layers.0.attention."))
      found.push_back(parameter.name.substr(19) + " " + parameter.tensor.shape().text());
  CHECK(found == std::vector<std::string>{"query.weight (24, 32)", "query.bias (24)", "key.weight (12, 32)",
                                          "key.bias (12)", "value.weight (12, 32)", "value.bias (12)",
                                          "output.weight (32, 24)", "query_norm.gain (6)", "key_norm.gain (6)"});
}

TEST_CASE("the parameter formula equals the module's own list, name for name, for every preset and setting") {
  for (const Preset& preset : presets()) {
    if (preset.config.parameter_count() > 100000000) continue;
    for (const bool tied : {true, false})
      for (const bool more : {true, false}) {
        INFO(preset.name, ", tied ", tied, ", more ", more);
        Config config = preset.config;
        config.tied_head = tied;
        if (more) config.attention_bias = config.query_key_norm = true;
        const Decoder decoder(config);
        CHECK(config.parameter_count() == count_parameters(decoder));
        std::vector<std::string> formula, modules;
        for (const ParameterCount& row : config.parameter_table())
          formula.push_back(row.name + " " + row.shape.text());
        for (const Parameter& parameter : parameters(decoder)) {
          std::string name = parameter.name;
          if (name.starts_with("layers.") && !name.starts_with("layers.0.")) continue;
          if (name.starts_with("layers.0.")) name = "layers.N." + name.substr(9);
          modules.push_back(name + " " + parameter.tensor.shape().text());
        }
        CHECK(formula == modules);
      }
  }
}

TEST_CASE("a model too large for any memory is counted all the same") {
  const Config config{.vocab_size = 70000, .width = 70000, .n_layers = 1, .n_heads = 2, .n_kv_heads = 2};
  CHECK(config.parameter_table().front().count() == 4900000000u);
}

TEST_CASE("no token sees a later one") {
  const Decoder decoder = make(book());
  std::vector<int> ids = random_ids(3 * 9, 13);
  const Tensor before = decoder.hidden(ids, 3);
  for (std::size_t row = 0; row < 3; ++row) ids[row * 9 + 6] = (ids[row * 9 + 6] + 1) % 13;
  const Tensor after = decoder.hidden(ids, 3);
  for (std::size_t row = 0; row < 3; ++row) {
    const auto part = [&](const Tensor& h, std::size_t from, std::size_t to) {
      return h.values().subspan((row * 9 + from) * 32, (to - from) * 32);
    };
    CHECK(largest_difference(part(before, 0, 6), part(after, 0, 6)) == 0);
    CHECK(largest_difference(part(before, 6, 9), part(after, 6, 9)) > 1e-3);
  }
}

TEST_CASE("a row's result does not depend on the other rows of its batch") {
  const Decoder decoder = make(book());
  const std::vector<int> ids = random_ids(4 * 7, 13);
  const Tensor together = decoder.hidden(ids, 4);
  for (std::size_t row = 0; row < 4; ++row) {
    const Tensor alone = decoder.hidden(std::span(ids).subspan(row * 7, 7), 1);
    CHECK(largest_difference(alone.values(), together.values().subspan(row * 7 * 32, 7 * 32)) < 10 * tolerance);
  }
}

TEST_CASE("composed and fused attention give the same loss and the same gradients") {
  Config config = book();
  config.attention = AttentionKind::fused;
  Decoder decoder = make(config);
  const std::vector<int> ids = random_ids(2 * 8, 13), targets = random_ids(2 * 8, 13, 4);

  std::vector<std::vector<Real>> gradients;
  std::vector<double> losses;
  for (AttentionKind kind : {AttentionKind::fused, AttentionKind::composed}) {
    decoder.set_attention(kind);
    const Tensor loss = decoder.loss(ids, targets, 2);
    loss.backward();
    losses.push_back(static_cast<double>(loss.item()));
    for (Parameter parameter : parameters(decoder)) {
      gradients.emplace_back(parameter.tensor.grad().begin(), parameter.tensor.grad().end());
      parameter.tensor.clear_grad();
    }
  }
  CHECK(losses[0] == doctest::Approx(losses[1]).epsilon(tolerance));
  for (std::size_t i = 0; i < gradients.size() / 2; ++i)
    CHECK(largest_difference(gradients[i], gradients[gradients.size() / 2 + i]) < 10 * tolerance);
}

TEST_CASE("the loss without all logits is the cross-entropy of all logits") {
  const Decoder decoder = make(book());
  const std::vector<int> ids = random_ids(2 * 8, 13);
  std::vector<int> targets = random_ids(2 * 8, 13, 4);
  targets[3] = ignore_index;
  const Tensor logits = decoder.logits(decoder.hidden(ids, 2));
  CHECK(logits.shape() == Shape{2, 8, 13});
  CHECK(decoder.loss(ids, targets, 2).item() == doctest::Approx(static_cast<double>(cross_entropy(logits, targets).item())));
}

TEST_CASE("an untrained decoder knows nothing: its loss is close to ln V") {
  Config config = book();
  config.vocab_size = 256;
  Decoder decoder(config);
  Rng rng(1);
  initialise(decoder, rng);
  const std::vector<int> ids = random_ids(4 * 32, 256), targets = random_ids(4 * 32, 256, 4);
  CHECK(decoder.loss(ids, targets, 4).item() == doctest::Approx(std::log(256.0)).epsilon(0.01));
}

TEST_CASE("initialise scales the two projections into the residual stream, and no others, by 1/√(2L)") {
  Config config = find_preset("shakespeare").config;
  Decoder decoder(config);
  Rng rng(1);
  initialise(decoder, rng);
  for (const Parameter& parameter : parameters(decoder)) {
    CAPTURE(parameter.name);
    if (parameter.name.ends_with("gain")) {
      for (Real value : parameter.tensor.values()) REQUIRE(value == 1);
      continue;
    }
    double sum = 0, squares = 0;
    for (Real value : parameter.tensor.values()) {
      sum += static_cast<double>(value);
      squares += static_cast<double>(value * value);
    }
    const double n = static_cast<double>(parameter.tensor.size());
    const bool scaled = parameter.name.ends_with("output.weight") || parameter.name.ends_with("down.weight");
    const double expected = scaled ? 0.02 / std::sqrt(8.0) : 0.02;
    CHECK(std::sqrt(squares / n) == doctest::Approx(expected).epsilon(5 / std::sqrt(2 * n)));
    CHECK(std::abs(sum / n) < 5 * expected / std::sqrt(n));
  }
}

// The same under every compiler and standard library: a seed means the same model everywhere. FNV-1a over the numbers.
TEST_CASE("seed 1337 gives these weights, bit for bit") {
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  Decoder decoder(book());
  Rng rng(1337);
  initialise(decoder, rng);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Parameter& parameter : parameters(decoder))
    for (Real value : parameter.tensor.values()) hash = (hash ^ std::bit_cast<Bits>(value)) * 0x100000001b3;
  CHECK(hash == (sizeof(Real) == 8 ? 6117555517627469439u : 3783235501310797853u));
}

TEST_CASE("the plain initialisation scales nothing, and biases begin at 0") {
  Config config = find_preset("shakespeare").config;
  config.initialisation = Initialisation::plain;
  config.attention_bias = config.query_key_norm = true;
  Decoder decoder(config);
  Rng rng(1);
  initialise(decoder, rng);
  const Attention& attention = decoder.layers[1].attention;
  double squares = 0;
  for (Real value : attention.output.weight.values()) squares += static_cast<double>(value * value);
  const double n = static_cast<double>(attention.output.weight.size());
  CHECK(std::sqrt(squares / n) == doctest::Approx(0.02).epsilon(0.03));
  for (Real value : attention.value.bias.values()) CHECK(value == 0);
  for (Real value : attention.key_norm.gain.values()) CHECK(value == 1);
}

TEST_CASE("normalised queries and keys make a model blind to the size of their projections") {
  Config config = book();
  config.query_key_norm = true;
  config.norm_epsilon = 0;
  const Decoder decoder = make(config);
  const std::vector<int> ids = random_ids(9, 13);
  const Tensor before = decoder.hidden(ids, 1);
  for (const Block& layer : decoder.layers)
    for (Tensor weight : {layer.attention.query.weight, layer.attention.key.weight})
      for (Real& value : weight.mutable_values()) value *= 4;
  CHECK(largest_difference(before.values(), decoder.hidden(ids, 1).values()) < 100 * tolerance);
}

TEST_CASE("dropout acts only where the context asks for it") {
  Config config = book();
  Decoder plain = make(config);
  config.dropout = 0.5;
  const Decoder decoder = make(config);
  const std::vector<int> ids = random_ids(8, 13), targets = random_ids(8, 13, 4);
  const Real expected = plain.loss(ids, targets, 1).item();
  CHECK(decoder.loss(ids, targets, 1).item() == expected);
  CHECK(decoder.loss(ids, targets, 1).item() == expected);
  Rng rng(1);
  CHECK(decoder.loss(ids, targets, 1, {.dropout = &rng}).item() != expected);
}

TEST_CASE("the decoder refuses what it cannot do, with the numbers and what to try") {
  const Decoder decoder(book());
  const std::vector<int> ids(33, 1);
  CHECK_THROWS_WITH_AS(decoder.hidden(ids, 1),
                       "decoder: 33 tokens from position 0 need a context of 33, and context_length is 32; shorten the "
                       "input or slide a window over it",
                       ShapeError);
  CHECK_THROWS_WITH_AS(decoder.hidden(std::span(ids).first(7), 2),
                       "decoder: 7 ids are not 2 rows of equal length; a batch is B·T ids, and neither may be 0", ShapeError);
  CHECK_THROWS_AS(decoder.hidden({}, 1), ShapeError);
  const std::vector<int> outside = {1, 13, 2};
  CHECK_THROWS_WITH_AS(decoder.hidden(outside, 1), doctest::Contains("13"), ShapeError);
}
