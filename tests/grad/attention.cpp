#include "autograd/ops/attention.h"

#include <vector>

#include "tests/grad/check.h"

using namespace gradus;

namespace {

// B, T, S, H, G, D
struct Case {
  std::size_t B, T, S, H, G, D;
  std::vector<int> valid = {};
};

}  // namespace

GRAD_CHECK(attention) {
  const Case cases[] = {
      {1, 1, 2, 1, 1, 1},
      {2, 3, 3, 4, 4, 2},
      {1, 3, 3, 4, 2, 3},
      {2, 2, 4, 4, 1, 3},
      {1, 1, 5, 4, 2, 2},
      {1, 4, 4, 1, 1, 5},
      {2, 3, 3, 2, 1, 2, {0, 1, 1, 1, 1, 0}},        // padding on the left, where row 0 sees nothing, and on the right
      {2, 2, 4, 4, 2, 3, {1, 0, 1, 1, 0, 0, 0, 0}},  // between tokens, and everywhere
      {1, 34, 35, 2, 1, 1},                          // more than one block of rows
  };
  for (const auto& [B, T, S, H, G, D, valid] : cases) {
    const Tensor query = table.uniform({B, T, H * D}, -2, 2), key = table.uniform({B, S, G * D}, -2, 2);
    const Tensor value = table.uniform({B, S, G * D});
    table.check({{"query", query}, {"key", key}, {"value", value}},
                [=, heads = AttentionHeads{H, G}, mask = valid] { return attention(query, key, value, heads, mask); });
  }
  const Tensor x = table.uniform({2, 3, 4});
  table.check({{"x", x}}, [=] { return attention(x, x, x, {2, 2}); });

  const Tensor query = table.uniform({2, 3, 8}, -2, 2), key = table.uniform({2, 5, 4}, -2, 2);
  const Tensor value = table.uniform({2, 5, 4}), bias = table.uniform({2, 4, 3, 5}, -2, 2);
  const std::vector<int> valid{1, 1, 0, 1, 1, 0, 0, 0, 1, 1}, visible{2, 0, 5, 1, 3, 4};
  const auto check = [&](std::span<const int> tokens, std::span<const int> visible_keys, bool biased, double dropout) {
    std::vector<gradus::NamedTensor> inputs{{"query", query}, {"key", key}, {"value", value}};
    if (biased) inputs.push_back({"bias", bias});
    table.check(inputs, [=] {
      Rng rng(5);
      return attention(query, key, value, {4, 2}, tokens,
                       {.bias = biased ? bias : Tensor(), .dropout = dropout, .rng = &rng, .visible = visible_keys});
    });
  };
  check({}, {}, true, 0);
  check(valid, {}, true, 0);
  check({}, {}, false, 0.3);
  check(valid, {}, true, 0.3);
  check({}, visible, false, 0);
  check({}, visible, true, 0.3);
}
