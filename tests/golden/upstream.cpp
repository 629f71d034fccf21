#include "tests/golden/upstream.h"

#include <map>
#include <regex>

#include "autograd/error.h"
#include "autograd/ops/binary.h"
#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"

namespace gradus::golden {

using Table = std::map<std::string, Place>;

// The tables name layer N; a parameter names layer 3.
static Place look_up(const Table& table, const std::string& ours) {
  static const std::regex layer_number(R"(\.(\d+)\.)"), any_layer(R"(\.N\.)");
  const auto entry = table.find(std::regex_replace(ours, layer_number, ".N."));
  expect(entry != table.end(), "upstream has no parameter for our {}", ours);
  Place place = entry->second;
  if (std::smatch number; std::regex_search(ours, number, layer_number))
    place.tensor = std::regex_replace(place.tensor, any_layer, number.str());
  return place;
}

Place minimind_place(const std::string& ours) {
  static const Table table = {
      {"embedding.weight", {"model.embed_tokens.weight"}},
      {"layers.N.attention_norm.gain", {"model.layers.N.input_layernorm.weight"}},
      {"layers.N.attention.query.weight", {"model.layers.N.self_attn.q_proj.weight"}},
      {"layers.N.attention.key.weight", {"model.layers.N.self_attn.k_proj.weight"}},
      {"layers.N.attention.value.weight", {"model.layers.N.self_attn.v_proj.weight"}},
      {"layers.N.attention.output.weight", {"model.layers.N.self_attn.o_proj.weight"}},
      {"layers.N.feed_forward_norm.gain", {"model.layers.N.post_attention_layernorm.weight"}},
      {"layers.N.feed_forward.gate.weight", {"model.layers.N.mlp.gate_proj.weight"}},
      {"layers.N.feed_forward.up.weight", {"model.layers.N.mlp.up_proj.weight"}},
      {"layers.N.feed_forward.down.weight", {"model.layers.N.mlp.down_proj.weight"}},
      {"norm.gain", {"model.norm.weight"}},
  };
  return look_up(table, ours);
}

Place happy_place(const std::string& ours) {
  static const Table table = {
      {"embedding.weight", {"tok_embeddings.weight"}},
      {"layers.N.attention_norm.gain", {"layers.N.attention_norm.weight"}},
      {"layers.N.attention.query.weight", {"layers.N.attention.wq.weight"}},
      {"layers.N.attention.key.weight", {"layers.N.attention.wk.weight"}},
      {"layers.N.attention.value.weight", {"layers.N.attention.wv.weight"}},
      {"layers.N.attention.output.weight", {"layers.N.attention.wo.weight"}},
      {"layers.N.feed_forward_norm.gain", {"layers.N.ffn_norm.weight"}},
      {"layers.N.feed_forward.gate.weight", {"layers.N.feed_forward.w1.weight"}},
      {"layers.N.feed_forward.up.weight", {"layers.N.feed_forward.w3.weight"}},
      {"layers.N.feed_forward.down.weight", {"layers.N.feed_forward.w2.weight"}},
      {"norm.gain", {"norm.weight"}},
  };
  return look_up(table, ours);
}

Place nano_gpt_place(const std::string& ours) {
  static const Table table = [] {
    Table t = {
        {"embedding.weight", {"transformer.wte.weight"}},
        {"positions.weight", {"transformer.wpe.weight"}},
        {"layers.N.attention_norm.gain", {"transformer.h.N.ln_1.weight"}},
        {"layers.N.attention_norm.bias", {"transformer.h.N.ln_1.bias"}},
        {"layers.N.feed_forward_norm.gain", {"transformer.h.N.ln_2.weight"}},
        {"layers.N.feed_forward_norm.bias", {"transformer.h.N.ln_2.bias"}},
        {"norm.gain", {"transformer.ln_f.weight"}},
        {"norm.bias", {"transformer.ln_f.bias"}},
    };
    for (const std::string kind : {"weight", "bias"}) {
      t["layers.N.attention.query." + kind] = {"transformer.h.N.attn.c_attn." + kind, 0, 3};
      t["layers.N.attention.key." + kind] = {"transformer.h.N.attn.c_attn." + kind, 1, 3};
      t["layers.N.attention.value." + kind] = {"transformer.h.N.attn.c_attn." + kind, 2, 3};
      t["layers.N.attention.output." + kind] = {"transformer.h.N.attn.c_proj." + kind};
      t["layers.N.feed_forward.up." + kind] = {"transformer.h.N.mlp.c_fc." + kind};
      t["layers.N.feed_forward.down." + kind] = {"transformer.h.N.mlp.c_proj." + kind};
    }
    return t;
  }();
  return look_up(table, ours);
}

// A setting of the file, or upstream's default where it is missing or null.
template <class T>
static T setting(const Json& config, const char* name, T otherwise) {
  return config.contains(name) && !config[name].is_null() ? config[name].get<T>() : otherwise;
}

RopeScaling yarn_scaling(const Json& settings) {
  if (settings.empty()) return {};
  return {.kind = RopeScalingKind::yarn,
          .factor = setting(settings, "factor", 16.0),
          .original_context = setting(settings, "original_max_position_embeddings", std::size_t{2048}),
          .beta_fast = setting(settings, "beta_fast", 32.0),
          .beta_slow = setting(settings, "beta_slow", 1.0),
          .attention_factor = setting(settings, "attention_factor", 1.0)};
}

nn::Config minimind_config(const Json& config, const Json& rope_scaling) {
  const auto number = [&](const char* name, std::size_t otherwise) { return setting(config, name, otherwise); };
  return {.vocab_size = number("vocab_size", 6400),
          .width = number("hidden_size", 512),
          .n_layers = number("num_hidden_layers", 8),
          .n_heads = number("num_attention_heads", 8),
          .n_kv_heads = number("num_key_value_heads", 2),
          .hidden = number("intermediate_size", 0),
          .multiple_of = 64,
          .context_length = number("max_position_embeddings", 32768),
          .rope_theta = setting(config, "rope_theta", 1e6),
          .rope_pairing = RopePairing::half,
          .rope_scaling = yarn_scaling(rope_scaling),
          .norm_epsilon = setting(config, "rms_norm_eps", 1e-5)};
}

nn::Config happy_config(const Json& config, double rope_theta) {
  const auto number = [&](const char* name, std::size_t otherwise) { return setting(config, name, otherwise); };
  const std::size_t n_heads = number("n_heads", 16);
  // Absent is 8, null is as many as queries.
  const std::size_t n_kv_heads = config.contains("n_kv_heads") ? number("n_kv_heads", n_heads) : 8;
  return {.vocab_size = number("vocab_size", 6144),
          .width = number("dim", 768),
          .n_layers = number("n_layers", 12),
          .n_heads = n_heads,
          .n_kv_heads = n_kv_heads,
          .hidden = number("hidden_dim", 0),
          .multiple_of = number("multiple_of", 64),
          .context_length = number("max_seq_len", 512),
          .rope_theta = rope_theta,
          .rope_pairing = RopePairing::adjacent,
          .norm_epsilon = setting(config, "norm_eps", 1e-5)};
}

nn::GPT2Config nano_gpt_config(const Json& config) {
  const auto number = [&](const char* name, std::size_t otherwise) { return setting(config, name, otherwise); };
  return {.vocab_size = number("vocab_size", 50304),
          .width = number("n_embd", 768),
          .n_layers = number("n_layer", 12),
          .n_heads = number("n_head", 12),
          .context_length = number("block_size", 1024),
          .bias = setting(config, "bias", true),
          .gelu = nn::GeluKind::erf};
}

Tensor happy_loss(const Tensor& logits, std::span<const int> targets, std::span<const int> loss_mask) {
  const std::vector<Real> numbers(loss_mask.begin(), loss_mask.end());
  const Tensor mask({numbers.size()}, numbers);
  return sum(cross_entropy(logits, targets, Reduction::none, 0) * mask) / static_cast<double>(sum(mask).item());
}

}  // namespace gradus::golden
