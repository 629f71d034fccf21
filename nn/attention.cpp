#include "nn/attention.h"

#include <algorithm>

#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"
#include "nn/kv_cache.h"

namespace gradus::nn {

AttentionResult attend(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionCall& call,
                       const TokenPlaces& places, const Context& context) {
  Tensor k = key, v = value;
  std::span<const int> valid = context.valid;
  AttentionExtras extras{.dropout = call.dropout, .rng = context.dropout};
  if (KVCache* const cache = context.cache) {
    cache->append(call.layer, k, v, places);
    k = cache->keys(call.layer);
    v = cache->values(call.layer);
    valid = {};
    extras.visible = places.visible;
    if (call.kind == AttentionKind::composed) {  // it would read the whole buffer
      const std::size_t longest = std::max(std::size_t{1}, std::ranges::max(places.length));
      k = slice(k, 1, 0, longest);
      v = slice(v, 1, 0, longest);
    }
  }
  if (call.kind == AttentionKind::composed) return attention_composed(query, k, v, call.heads, valid, extras);
  return {.output = attention(query, k, v, call.heads, valid, extras), .weights = {}};
}

Attention::Attention(const AttentionOptions& o)
    : query(o.width, o.n_heads * o.head_dim, o.bias),
      key(o.width, o.n_kv_heads * o.head_dim, o.bias),
      value(o.width, o.n_kv_heads * o.head_dim, o.bias),
      output(o.n_heads * o.head_dim, o.width),
      query_norm(o.head_dim, o.norm_epsilon),
      key_norm(o.head_dim, o.norm_epsilon),
      options(o) {
  if (!o.query_key_norm) query_norm.gain = key_norm.gain = Tensor();
}

// (B, T, heads · D), each head a row of the norm.
static Tensor norm_heads(const Tensor& x, const RMSNorm& norm) {
  if (!norm.gain.defined()) return x;
  const std::size_t head_dim = norm.gain.size();
  return reshape(norm(reshape(x, {x.extent(0), x.extent(1), x.extent(2) / head_dim, head_dim})), x.shape());
}

AttentionResult Attention::read(const Tensor& x, const RopeTable& table, const Context& context,
                                AttentionKind kind) const {
  const TokenPlaces places = token_places(context, x.extent(0), x.extent(1));
  const Tensor q = rope(norm_heads(query(x), query_norm), table, options.pairing, places.position);
  const Tensor k = rope(norm_heads(key(x), key_norm), table, options.pairing, places.position);
  const AttentionCall call{{options.n_heads, options.n_kv_heads}, kind, options.dropout, options.layer};
  return attend(q, k, value(x), call, places, context);
}

Tensor Attention::operator()(const Tensor& x, const RopeTable& table, const Context& context) const {
  return output(read(x, table, context, options.kind).output);
}

Tensor Attention::weights(const Tensor& x, const RopeTable& table, const Context& context) const {
  return read(x, table, context, AttentionKind::composed).weights;
}

}  // namespace gradus::nn
