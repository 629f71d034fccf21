#include "nn/attention.h"

namespace gradus::nn {

Attention::Attention(const AttentionOptions& o)
    : query(o.width, o.n_heads * o.head_dim),
      key(o.width, o.n_kv_heads * o.head_dim),
      value(o.width, o.n_kv_heads * o.head_dim),
      output(o.n_heads * o.head_dim, o.width),
      options(o) {}

Tensor Attention::operator()(const Tensor& x, const RopeTable& table, const Context& context) const {
  const Tensor q = rope(query(x), table, options.pairing, context.position);
  const Tensor k = rope(key(x), table, options.pairing, context.position);
  const Tensor v = value(x);
  const AttentionHeads heads{options.n_heads, options.n_kv_heads};
  const Tensor mixed = options.kind == AttentionKind::fused
                           ? attention(q, k, v, heads, context.valid)
                           : attention_composed(q, k, v, heads, context.valid).output;
  return output(mixed);
}

Tensor Attention::weights(const Tensor& x, const RopeTable& table, const Context& context) const {
  const Tensor q = rope(query(x), table, options.pairing, context.position);
  const Tensor k = rope(key(x), table, options.pairing, context.position);
  return attention_composed(q, k, value(x), {options.n_heads, options.n_kv_heads}, context.valid).weights;
}

}  // namespace gradus::nn
