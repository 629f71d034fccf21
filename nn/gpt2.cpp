#include "nn/gpt2.h"

#include <algorithm>
#include <cmath>

#include "autograd/error.h"
#include "autograd/ops/binary.h"
#include "autograd/ops/linear_cross_entropy.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reshape.h"

namespace gradus::nn {

void GPT2Config::validate() const {
  const auto positive = [](std::string_view field, std::size_t value) {
    constexpr std::size_t limit = std::size_t{1} << 31;
    expect(value > 0 && value < limit, "gpt2: {} is {}; it must be 1 or more and below {}", field, value, limit);
  };
  positive("vocab_size", vocab_size);
  positive("width", width);
  positive("n_layers", n_layers);
  positive("n_heads", n_heads);
  positive("context_length", context_length);
  expect(width % n_heads == 0, "gpt2: width {} is not a multiple of n_heads {}; change one of them", width, n_heads);
  expect(norm_epsilon >= 0 && std::isfinite(norm_epsilon), "gpt2: norm_epsilon must be 0 or more, not {}",
         norm_epsilon);
  expect(dropout >= 0 && dropout < 1, "gpt2: dropout must be in [0, 1), not {}", dropout);
}

std::vector<ParameterCount> GPT2Config::parameter_table() const {
  std::vector<ParameterCount> table;
  const auto with_bias = [&](const std::string& name, const Shape& shape, std::size_t copies) {
    table.push_back({name + (shape.rank() == 1 ? ".gain" : ".weight"), shape, copies});
    if (bias) table.push_back({name + ".bias", {shape[0]}, copies});
  };
  table.push_back({"embedding.weight", {vocab_size, width}, 1});
  table.push_back({"positions.weight", {context_length, width}, 1});
  with_bias("layers.N.attention_norm", {width}, n_layers);
  for (const char* projection : {"query", "key", "value", "output"})
    with_bias(std::string("layers.N.attention.") + projection, {width, width}, n_layers);
  with_bias("layers.N.feed_forward_norm", {width}, n_layers);
  with_bias("layers.N.feed_forward.up", {hidden(), width}, n_layers);
  with_bias("layers.N.feed_forward.down", {width, hidden()}, n_layers);
  with_bias("norm", {width}, 1);
  return table;
}

std::size_t GPT2Config::parameter_count() const {
  std::size_t total = 0;
  for (const ParameterCount& row : parameter_table()) total += row.count();
  return total;
}

GPT2Attention::GPT2Attention(const GPT2Config& c, std::size_t layer)
    : query(c.width, c.width, c.bias),
      key(c.width, c.width, c.bias),
      value(c.width, c.width, c.bias),
      output(c.width, c.width, c.bias),
      call{{c.n_heads, c.n_heads}, c.attention, c.dropout, layer} {}

Tensor GPT2Attention::operator()(const Tensor& x, const Context& context) const {
  const TokenPlaces places = token_places(context, x.extent(0), x.extent(1));
  return output(attend(query(x), key(x), value(x), call, places, context).output);
}

GPT2FeedForward::GPT2FeedForward(const GPT2Config& c)
    : up(c.width, c.hidden(), c.bias), down(c.hidden(), c.width, c.bias), kind(c.gelu) {}

Tensor GPT2FeedForward::operator()(const Tensor& x) const {
  return down(kind == GeluKind::erf ? gelu(up(x)) : gelu_tanh(up(x)));
}

GPT2Block::GPT2Block(const GPT2Config& c, std::size_t layer)
    : attention_norm(c.width, c.bias, c.norm_epsilon),
      attention(c, layer),
      feed_forward_norm(c.width, c.bias, c.norm_epsilon),
      feed_forward(c),
      dropout(c.dropout) {}

Tensor GPT2Block::operator()(const Tensor& x, const Context& context) const {
  const Tensor h = x + maybe_dropout(attention(attention_norm(x), context), dropout, context);
  return h + maybe_dropout(feed_forward(feed_forward_norm(h)), dropout, context);
}

static const GPT2Config& validated(const GPT2Config& config) {
  config.validate();
  return config;
}

GPT2::GPT2(const GPT2Config& settings)
    : config(validated(settings)),
      embedding(config.vocab_size, config.width),
      positions(config.context_length, config.width),
      norm(config.width, config.bias, config.norm_epsilon) {
  for (std::size_t layer = 0; layer < config.n_layers; ++layer) layers.emplace_back(config, layer);
}

Tensor GPT2::hidden(std::span<const int> ids, std::size_t batch, const Context& context) const {
  expect(batch > 0 && !ids.empty() && ids.size() % batch == 0,
         "gpt2: {} ids are not {} rows of equal length; a batch is B·T ids, and neither may be 0", ids.size(), batch);
  const std::size_t time = ids.size() / batch;
  TokenPlaces places = token_places(context, batch, time);
  for (std::size_t row = 0; row < batch; ++row)
    expect(places.length[row] <= config.context_length,
           "gpt2: row {} has {} tokens with those before it, and {} positions are learned; shorten the input or slide a "
           "window over it",
           row, places.length[row], config.context_length);
  // Padding may stand behind the last position.
  for (int& position : places.position) position = std::min(position, static_cast<int>(config.context_length) - 1);

  Tensor h = reshape(embedding(ids) + positions(places.position), {batch, time, config.width});
  h = maybe_dropout(h, config.dropout, context);
  for (const GPT2Block& layer : layers) h = layer(h, context);
  if (context.cache != nullptr) context.cache->advance(places);
  return norm(h);
}

Tensor GPT2::loss(std::span<const int> ids, std::span<const int> targets, std::size_t batch,
                  const Context& context) const {
  return linear_cross_entropy(hidden(ids, batch, context), embedding.weight, targets);
}

void GPT2::set_attention(AttentionKind kind) {
  config.attention = kind;
  for (GPT2Block& layer : layers) layer.attention.call.kind = kind;
}

void initialise(GPT2& model, Rng& rng) {
  constexpr double deviation = 0.02;
  const double into_the_stream = deviation / std::sqrt(2.0 * static_cast<double>(model.layers.size()));
  for_each_parameter(model, [&](const std::string& name, Tensor& tensor) {
    const bool adds_to_stream = name.ends_with("attention.output.weight") || name.ends_with("feed_forward.down.weight");
    if (name.ends_with("weight"))
      for (Real& value : tensor.mutable_values())
        value = static_cast<Real>((adds_to_stream ? into_the_stream : deviation) * rng.normal());
    else
      std::ranges::fill(tensor.mutable_values(), static_cast<Real>(name.ends_with("gain") ? 1 : 0));
  });
}

}  // namespace gradus::nn
