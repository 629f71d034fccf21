#include "nn/decoder.h"

#include <algorithm>
#include <cmath>

#include "autograd/error.h"
#include "autograd/ops/linear_cross_entropy.h"
#include "autograd/ops/reshape.h"
#include "nn/kv_cache.h"

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
  AttentionOptions options{.width = config.width,
                           .n_heads = config.n_heads,
                           .n_kv_heads = config.n_kv_heads,
                           .head_dim = config.resolved_head_dim(),
                           .pairing = config.rope_pairing,
                           .kind = config.attention,
                           .bias = config.attention_bias,
                           .query_key_norm = config.query_key_norm,
                           .norm_epsilon = config.norm_epsilon,
                           .dropout = config.dropout};
  for (options.layer = 0; options.layer < config.n_layers; ++options.layer)
    layers.emplace_back(options, config.resolved_hidden());
  if (config.tied_head) head.weight = embedding.weight;
}

Tensor Decoder::hidden(std::span<const int> ids, std::size_t batch, const Context& context) const {
  expect(batch > 0 && !ids.empty() && ids.size() % batch == 0,
         "decoder: {} ids are not {} rows of equal length; a batch is B·T ids, and neither may be 0", ids.size(),
         batch);
  const std::size_t time = ids.size() / batch;
  const TokenPlaces places = token_places(context, batch, time);
  for (std::size_t row = 0; row < batch; ++row) {
    const std::size_t length = places.length[row];
    const std::size_t start = context.cache != nullptr ? context.cache->length(row) : context.position;
    expect(length <= config.context_length,
           "decoder: {} tokens from position {} need a context of {}, and context_length is {}; shorten the input or "
           "slide a window over it",
           length - start, start, length, config.context_length);
  }

  const RopeTable& table = table_for(static_cast<std::size_t>(std::ranges::max(places.position)) + 1);
  Tensor h = reshape(embedding(ids), {batch, time, config.width});
  h = maybe_dropout(h, config.dropout, context);
  for (const Block& layer : layers) h = layer(h, table, context);
  if (context.cache != nullptr) context.cache->advance(places);
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
    table_ = rope_table(std::max(positions, std::min(2 * have, config.context_length)), config.resolved_head_dim(),
                        config.rope_theta, config.rope_scaling, config.context_length);
  return table_;
}

static void fill_normal(Tensor& tensor, double deviation, Rng& rng) {
  for (Real& value : tensor.mutable_values()) value = static_cast<Real>(deviation * rng.normal());
}

void initialise(Decoder& decoder, Rng& rng) {
  constexpr double deviation = 0.02;
  const double depth = static_cast<double>(decoder.layers.size());
  const bool scaled = decoder.config.initialisation == Initialisation::scaled;
  const double into_the_stream = scaled ? deviation / std::sqrt(2 * depth) : deviation;
  for (Parameter parameter : parameters(decoder)) {
    const std::string_view name = parameter.name;
    if (name.ends_with(".gain"))
      std::ranges::fill(parameter.tensor.mutable_values(), Real{1});
    else if (name.ends_with(".bias"))
      std::ranges::fill(parameter.tensor.mutable_values(), Real{0});
    else if (name.ends_with(".attention.output.weight") || name.ends_with(".feed_forward.down.weight"))
      fill_normal(parameter.tensor, into_the_stream, rng);
    else
      fill_normal(parameter.tensor, deviation, rng);
  }
}

}  // namespace gradus::nn
