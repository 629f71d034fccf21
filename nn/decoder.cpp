#include "nn/decoder.h"

#include <algorithm>
#include <cmath>

#include "autograd/error.h"
#include "autograd/ops/linear_cross_entropy.h"
#include "autograd/ops/reshape.h"

namespace gradus::nn {

static const Config& validated(const Config& config) {
  config.validate();
  return config;
}

Decoder::Decoder(const Config& settings)
    : config(validated(settings)),
      embedding(config.vocab_size, config.width),
      norm(config.width, config.norm_epsilon),
      head(config.width, config.vocab_size) {
  const AttentionOptions options{config.width,        config.n_heads,      config.n_kv_heads, config.resolved_head_dim(),
                                 config.rope_pairing, config.attention};
  for (std::size_t layer = 0; layer < config.n_layers; ++layer)
    layers.emplace_back(options, config.resolved_hidden(), config.norm_epsilon, config.dropout);
  if (config.tied_head) head.weight = embedding.weight;
}

Tensor Decoder::hidden(std::span<const int> ids, std::size_t batch, const Context& context) const {
  expect(batch > 0 && !ids.empty() && ids.size() % batch == 0,
         "decoder: {} ids are not {} rows of equal length; a batch is B·T ids, and neither may be 0", ids.size(), batch);
  const std::size_t time = ids.size() / batch;
  expect(context.position + time <= config.context_length,
         "decoder: {} tokens from position {} need a context of {}, and context_length is {}; shorten the input or slide "
         "a window over it",
         time, context.position, context.position + time, config.context_length);

  const RopeTable& table = table_for(context.position + time);
  Tensor h = reshape(embedding(ids), {batch, time, config.width});
  h = maybe_dropout(h, config.dropout, context);
  for (const Block& layer : layers) h = layer(h, table, context);
  return norm(h);
}

Tensor Decoder::loss(std::span<const int> ids, std::span<const int> targets, std::size_t batch,
                     const Context& context) const {
  return linear_cross_entropy(hidden(ids, batch, context), head.weight, targets);
}

void Decoder::set_attention(AttentionKind kind) {
  config.attention = kind;
  for (Block& layer : layers) layer.attention.options.kind = kind;
}

const RopeTable& Decoder::table_for(std::size_t positions) const {
  const std::size_t have = table_.cosine.defined() ? table_.cosine.extent(0) : 0;
  if (positions > have)
    table_ = rope_table(std::min(std::max(positions, 2 * have), config.context_length), config.resolved_head_dim(),
                        config.rope_theta);
  return table_;
}

static void fill_normal(Tensor& tensor, double deviation, Rng& rng) {
  for (Real& value : tensor.mutable_values()) value = static_cast<Real>(deviation * rng.normal());
}

void initialise(Decoder& decoder, Rng& rng) {
  constexpr double deviation = 0.02;
  const double into_the_stream = deviation / std::sqrt(2.0 * static_cast<double>(decoder.layers.size()));
  const auto fill_ones = [](Tensor& gain) { std::ranges::fill(gain.mutable_values(), Real{1}); };

  fill_normal(decoder.embedding.weight, deviation, rng);
  for (Block& layer : decoder.layers) {
    fill_ones(layer.attention_norm.gain);
    fill_normal(layer.attention.query.weight, deviation, rng);
    fill_normal(layer.attention.key.weight, deviation, rng);
    fill_normal(layer.attention.value.weight, deviation, rng);
    fill_normal(layer.attention.output.weight, into_the_stream, rng);
    fill_ones(layer.feed_forward_norm.gain);
    fill_normal(layer.feed_forward.gate.weight, deviation, rng);
    fill_normal(layer.feed_forward.up.weight, deviation, rng);
    fill_normal(layer.feed_forward.down.weight, into_the_stream, rng);
  }
  fill_ones(decoder.norm.gain);
  if (!decoder.config.tied_head) fill_normal(decoder.head.weight, deviation, rng);
}

}  // namespace gradus::nn
