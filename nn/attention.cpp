#include "nn/attention.h"

#include <algorithm>

#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"
#include "nn/kv_cache.h"

namespace gradus::nn {

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

AttentionResult Attention::attend(const Tensor& x, const RopeTable& table, const Context& context,
                                  AttentionKind kind) const {
  const TokenPlaces places = token_places(context, x.extent(0), x.extent(1));
  const Tensor q = rope(norm_heads(query(x), query_norm), table, options.pairing, places.position);
  Tensor k = rope(norm_heads(key(x), key_norm), table, options.pairing, places.position);
  Tensor v = value(x);
  std::span<const int> valid = context.valid;
  AttentionExtras extras{.dropout = options.dropout, .rng = context.dropout};

  if (KVCache* const cache = context.cache) {
    cache->append(options.layer, k, v, places);
    k = cache->keys(options.layer);
    v = cache->values(options.layer);
    valid = {};
    extras.visible = places.visible;
    if (kind == AttentionKind::composed) {  // it would read the whole buffer
      const std::size_t longest = std::max(std::size_t{1}, std::ranges::max(places.length));
      k = slice(k, 1, 0, longest);
      v = slice(v, 1, 0, longest);
    }
  }
  const AttentionHeads heads{options.n_heads, options.n_kv_heads};
  if (kind == AttentionKind::composed) return attention_composed(q, k, v, heads, valid, extras);
  return {.output = attention(q, k, v, heads, valid, extras), .weights = {}};
}

Tensor Attention::operator()(const Tensor& x, const RopeTable& table, const Context& context) const {
  return output(attend(x, table, context, options.kind).output);
}

Tensor Attention::weights(const Tensor& x, const RopeTable& table, const Context& context) const {
  return attend(x, table, context, AttentionKind::composed).weights;
}

}  // namespace gradus::nn
