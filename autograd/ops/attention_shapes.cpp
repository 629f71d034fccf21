#include "autograd/ops/attention_shapes.h"

#include <algorithm>

#include "autograd/error.h"

namespace gradus {

AttentionShapes attention_shapes(std::string_view op, const Tensor& query, const Tensor& key, const Tensor& value,
                                 AttentionHeads heads, std::span<const int> valid, const AttentionExtras& extras) {
  const std::size_t H = heads.n_heads, G = heads.n_kv_heads;
  expect(H >= 1 && G >= 1 && H % G == 0,
         "{}: n_heads {} must be a multiple of n_kv_heads {}, so that every key and value head serves as many query "
         "heads",
         op, H, G);
  expect(query.rank() == 3 && key.rank() == 3,
         "{}: query {} must be (B, T, H·D) and key {} must be (B, S, G·D); reshape them to three axes", op,
         query.shape(), key.shape());
  const std::size_t B = query.extent(0), T = query.extent(1), S = key.extent(1), D = query.extent(2) / H;
  expect(D >= 1 && query.extent(2) == H * D, "{}: the last axis of query {} must be a multiple of n_heads {}", op,
         query.shape(), H);
  expect(key.shape() == Shape{B, S, G * D},
         "{}: key {} does not fit query {}: with {} heads and {} key and value heads of {} numbers it must be {}", op,
         key.shape(), query.shape(), H, G, D, Shape{B, S, G * D});
  expect(value.shape() == key.shape(), "{}: value {} must have the shape of key {}", op, value.shape(), key.shape());
  expect(S >= T || !extras.visible.empty(),
         "{}: key {} has fewer positions than query {}; keys are those of the past and of the queries themselves", op,
         key.shape(), query.shape());
  expect(valid.empty() || valid.size() == B * S,
         "{}: valid has {} numbers and must have one for each key: {} sequences of {} are {}", op, valid.size(), B, S,
         B * S);
  expect(std::ranges::all_of(valid, [](int v) { return v == 0 || v == 1; }),
         "{}: valid must hold 1 for a token and 0 for padding, nothing else; numbers to be added to the scores are "
         "another argument, bias",
         op);

  const Tensor& bias = extras.bias;
  expect(!bias.defined() || bias.shape() == Shape{B, H, T, S},
         "{}: bias {} must have a number for each score, (B, H, T, S) = {}; nothing is broadcast", op,
         bias.defined() ? bias.shape() : Shape{}, Shape{B, H, T, S});
  expect(extras.dropout >= 0 && extras.dropout < 1, "{}: dropout must be at least 0 and below 1, not {}", op,
         extras.dropout);
  expect(extras.visible.empty() || extras.visible.size() == B * T,
         "{}: visible has {} numbers and must have one for each query: {} sequences of {} are {}", op,
         extras.visible.size(), B, T, B * T);
  for (const int keys : extras.visible)
    expect(keys >= 0 && static_cast<std::size_t>(keys) <= S, "{}: a query cannot see {} keys; there are {}", op, keys,
           S);

  const std::size_t reach = extras.visible.empty() ? S : static_cast<std::size_t>(std::ranges::max(extras.visible));
  return {.B = B, .T = T, .S = S, .H = H, .G = G, .D = D, .group = H / G,
          .valid = {valid.begin(), valid.end()}, .visible_keys = {extras.visible.begin(), extras.visible.end()},
          .reach = reach};
}

}  // namespace gradus
