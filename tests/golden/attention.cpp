// Heads, rotary positions and attention.
#include "autograd/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "autograd/ops/concat.h"
#include "autograd/ops/repeat_heads.h"
#include "autograd/ops/rope.h"
#include "nn/attention.h"
#include "tests/golden/upstream.h"

namespace gradus::golden {

static void read_repeat_kv(File& file) {
  for (const Case& c : cases(file)) {
    const Tensor x = c.leaf("x");
    const Tensor y = repeat_heads(x, c["n_rep"]);
    c.compare("y", y);
    y.backward(c.tensor("dy"));
    c.compare_gradient("dx", x);
  }
}

// The table of a file: in the half pairing its columns stand there twice.
static void compare_table(const Case& c, const std::string& name, const Tensor& column_of_point,
                          std::span<const int> rows, Tolerance tolerance) {
  const std::size_t columns = c.shape(name)[1], half = column_of_point.extent(1);
  const std::span<const Real> ours = column_of_point.values();
  Tensor table({rows.size(), columns});
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t i = 0; i < columns; ++i)
      table.mutable_values()[row * columns + i] = ours[static_cast<std::size_t>(rows[row]) * half + i % half];
  c.compare(name, table, tolerance);
}

static void read_rope(File& file, RopePairing pairing) {
  for (const Case& c : cases(file)) {
    const RopeTable table = rope_table(c["table_len"], c["head_dim"], c["base"]);
    std::vector<int> rows(c.get<std::size_t>("table_len"));
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = static_cast<int>(row);
    compare_table(c, "cos", table.cosine, rows, operation);
    compare_table(c, "sin", table.sine, rows, operation);
    for (const std::string name : {"q", "k"}) {
      const Tensor x = c.heads(name);
      const Tensor y = rope(x, table, pairing, c.get<std::size_t>("start"));
      c.compare(name + "_out", y);
      y.backward(c.heads("d" + name + "_out"));
      c.compare_gradient("d" + name, x);
    }
  }
}

// Positions go into the ten thousands, where an angle of double has lost four digits.
static constexpr Tolerance far_position{1e-10, 2e-6};

static void read_yarn(File& file) {
  for (const Case& c : cases(file)) {
    const std::size_t head_dim = c["dim"], end = c["end"];
    const double base = c["base"];
    const RopeScaling scaling = yarn_scaling(c["rope_scaling"]);
    const RopeTable table = rope_table(end, head_dim, base, scaling);
    const std::vector<int> rows = c.ids("rows");
    compare_table(c, "cos", table.cosine, rows, far_position);
    compare_table(c, "sin", table.sine, rows, far_position);

    file.compare(c.prefix() + "freqs", rope_speeds(head_dim, base, scaling, end));
    file.compare(c.prefix() + "freqs_unscaled", rope_speeds(head_dim, base, {}, end));
    // Hugging Face scales however short the text is, and ends the ramp at D − 1 where there are D/2 points.
    const double length = static_cast<double>(scaling.original_context);
    const double last_slow = static_cast<double>(head_dim) *
                             std::log(length / (2 * std::numbers::pi * scaling.beta_slow)) / (2 * std::log(base));
    if (std::ceil(last_slow) > static_cast<double>(head_dim / 2 - 1))
      file.by_rule(c.prefix() + "hf_inv_freq");
    else
      file.compare(c.prefix() + "hf_inv_freq",
                   rope_speeds(head_dim, base, scaling, std::max(end, scaling.original_context + 1)));
  }
}

// Which numbers of a tensor (B, S, width…) lie in a row that `keep_row` keeps.
static Keep rows_kept(std::size_t width, std::vector<bool> keep_row) {
  return [width, keep = std::move(keep_row)](std::size_t i) { return keep[i / width]; };
}

// minimind adds −10⁹ to the scores of padding. With the same bias the operation has the same dead rows, as far as
// double can hold a score beside 10⁹; float cannot.
static void compare_with_bias(const Case& c) {
  static constexpr Tolerance beside_1e9{5e-6, 5e-6};
  const std::size_t B = c["B"], S = c["S"], H = c["Hq"], G = c["Hkv"];
  const bool with_past = c.has("k_past");
  const Tensor q = c.heads("q"), k = c.heads("k"), v = c.heads("v");
  const Tensor keys = with_past ? concat({c.heads("k_past"), k}, 1) : k;
  const Tensor values = with_past ? concat({c.heads("v_past"), v}, 1) : v;
  const std::vector<int> mask = c.ids("mask");
  const std::size_t all = mask.size() / B;
  Tensor bias = Tensor::zeros({B, H, S, all});
  for (std::size_t i = 0; i < bias.size(); ++i)
    if (mask[i / (H * S * all) * all + i % all] == 0) bias.mutable_values()[i] = Real(-1e9);
  const Tensor out = attention(q, keys, values, {H, G}, {}, {.bias = bias});
  out.backward(c.tensor("dout"));
  c.compare("out", out, beside_1e9);
  c.compare_gradient("dq", q, beside_1e9);
  c.compare_gradient("dk", k, beside_1e9);
  c.compare_gradient("dv", v, beside_1e9);
}

// A query that may see no key: upstream gives NaN, or adds −10⁹ and spreads over the padding. Here such a row is 0, and
// gives no gradient. What only it reaches upstream, the keys of padding, has a gradient of 0 here as well.
static void read_attention(File& file, bool nan_spreads) {
  for (const Case& c : cases(file)) {
    const std::size_t B = c["B"], S = c["S"], D = c["head_dim"], H = c["Hq"], G = c["Hkv"];
    const bool with_past = c.has("k_past"), with_mask = c.has("mask");
    const Tensor q = c.heads("q"), k = c.heads("k"), v = c.heads("v");
    const Tensor k_past = with_past ? c.heads("k_past") : Tensor(), v_past = with_past ? c.heads("v_past") : Tensor();
    const std::size_t past = with_past ? k_past.extent(1) : 0;
    const std::vector<int> mask = with_mask ? c.ids("mask") : std::vector<int>();
    const std::vector<int> dead = with_mask ? c.ids("dead_rows") : std::vector<int>(B * S);

    std::vector<bool> live(B * S), sequence_dead(B), key_kept(B * S, true), past_kept(B * past, true);
    for (std::size_t row = 0; row < B * S; ++row) {
      live[row] = dead[row] == 0;
      if (!live[row]) sequence_dead[row / S] = true;
    }
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t s = 0; s < past + S; ++s)
        if (sequence_dead[b] && mask[b * (past + S) + s] == 0) {
          if (s < past)
            past_kept[b * past + s] = false;
          else
            key_kept[b * S + s - past] = false;
        }
    // A NaN row spreads to every gradient of keys and values.
    if (nan_spreads && std::ranges::find(sequence_dead, true) != sequence_dead.end())
      key_kept.assign(B * S, false);

    const Keep of_query = rows_kept(H * D, live), of_key = rows_kept(G * D, key_kept),
               of_past = rows_kept(G * D, past_kept);
    const AttentionHeads heads{H, G};
    if (!nan_spreads && with_mask && in_double) compare_with_bias(c);
    for (const bool fused : {true, false}) {
      for (Tensor leaf : {q, k, v}) leaf.clear_grad();
      if (with_past)
        for (Tensor leaf : {k_past, v_past}) leaf.clear_grad();
      const Tensor keys = with_past ? concat({k_past, k}, 1) : k, values = with_past ? concat({v_past, v}, 1) : v;
      const Tensor out = fused ? attention(q, keys, values, heads, mask)
                               : attention_composed(q, keys, values, heads, mask).output;
      out.backward(c.tensor("dout"));
      c.compare("out", out, operation, of_query);
      file.require_zero(c.prefix() + "out", out.values(), of_query);
      c.compare_gradient("dq", q, operation, of_query);
      file.require_zero(c.prefix() + "dq", q.grad(), of_query);
      c.compare_gradient("dk", k, operation, of_key);
      c.compare_gradient("dv", v, operation, of_key);
      if (with_past) {
        c.compare_gradient("dk_past", k_past, operation, of_past);
        c.compare_gradient("dv_past", v_past, operation, of_past);
        c.compare("present_k", keys, exact);
        c.compare("present_v", values, exact);
      }
    }
  }
}

static constexpr Tolerance several_products{1e-12, 1e-5};

static void read_attention_module(File& file) {
  for (const Case& c : cases(file)) {
    const std::size_t S = c["S"], start = c["start"], D = c["head_dim"];
    const std::string rope_kind = c["rope"];
    const Tensor x = c.leaf("x");
    nn::Attention module({.width = x.shape().back(),
                          .n_heads = c["Hq"],
                          .n_kv_heads = c["Hkv"],
                          .head_dim = D,
                          .pairing = rope_kind.starts_with("half") ? RopePairing::half : RopePairing::adjacent});
    module.query.weight = c.leaf("wq");
    module.key.weight = c.leaf("wk");
    module.value.weight = c.leaf("wv");
    module.output.weight = c.leaf("wo");
    const std::vector<int> mask = c.has("mask") ? c.ids("mask") : std::vector<int>();

    const RopeTable table = rope_table(start + S, D, c["base"]);
    const Tensor out = module(x, table, {.position = start, .valid = mask});
    out.backward(c.tensor("dout"));
    c.compare("out", out);
    c.compare_gradient("dx", x, several_products);
    c.compare_gradient("dwq", module.query.weight, several_products);
    c.compare_gradient("dwk", module.key.weight, several_products);
    c.compare_gradient("dwv", module.value.weight, several_products);
    c.compare_gradient("dwo", module.output.weight, several_products);
  }
}

static const Kind repeat_kv("op.repeat_kv", read_repeat_kv),
    rope_half("op.rope_half", [](File& file) { read_rope(file, RopePairing::half); }),
    rope_adjacent("op.rope_adjacent", [](File& file) { read_rope(file, RopePairing::adjacent); }),
    yarn("op.yarn", read_yarn),
    minimind("op.attention_mm", [](File& file) { read_attention(file, false); }),
    happy("op.attention_hk", [](File& file) { read_attention(file, true); }),
    module("op.attention_module", read_attention_module);

}  // namespace gradus::golden
