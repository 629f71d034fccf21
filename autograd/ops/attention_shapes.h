// What both forms of attention ask of their arguments.
#pragma once

#include "autograd/ops/attention.h"

namespace gradus {

struct AttentionShapes {
  std::size_t B, T, S;       // sequences, queries and keys of each
  std::size_t H, G, D;       // query heads, key and value heads, numbers of a head
  std::size_t group;         // H / G query heads read one key and value head
  // Queries are the last T of S positions, so query t may see this many keys, from the first on.
  std::size_t visible(std::size_t t) const { return S - T + t + 1; }
};

// Errors: those of attention, in the name of `op`.
AttentionShapes attention_shapes(std::string_view op, const Tensor& query, const Tensor& key, const Tensor& value,
                                 AttentionHeads heads, std::span<const int> valid);

}  // namespace gradus
