#include "tests/golden/upstream.h"

namespace gradus::golden {

RopeScaling scaling_of(const Json& settings) {
  if (settings.empty()) return {};
  return {.kind = RopeScalingKind::yarn,
          .factor = setting(settings, "factor", 16.0),
          .original_context = setting<std::size_t>(settings, "original_max_position_embeddings", 2048),
          .beta_fast = setting(settings, "beta_fast", 32.0),
          .beta_slow = setting(settings, "beta_slow", 1.0),
          .attention_factor = setting(settings, "attention_factor", 1.0)};
}

nn::Config minimind_config(const Json& config) {
  nn::Config ours;
  ours.vocab_size = setting<std::size_t>(config, "vocab_size", 6400);
  ours.width = setting<std::size_t>(config, "hidden_size", 512);
  ours.n_layers = setting<std::size_t>(config, "num_hidden_layers", 8);
  ours.n_heads = setting<std::size_t>(config, "num_attention_heads", 8);
  ours.n_kv_heads = setting<std::size_t>(config, "num_key_value_heads", 2);
  ours.hidden = setting<std::size_t>(config, "intermediate_size", 0);
  ours.context_length = setting<std::size_t>(config, "max_position_embeddings", 32768);
  ours.rope_theta = setting(config, "rope_theta", 1e6);
  ours.rope_pairing = RopePairing::half;
  ours.norm_epsilon = setting(config, "rms_norm_eps", 1e-5);
  return ours;
}

nn::Config happy_config(const Json& config, double theta) {
  nn::Config ours;
  ours.vocab_size = setting<std::size_t>(config, "vocab_size", 6144);
  ours.width = setting<std::size_t>(config, "dim", 768);
  ours.n_layers = setting<std::size_t>(config, "n_layers", 12);
  ours.n_heads = setting<std::size_t>(config, "n_heads", 16);
  // Null means as many as the queries have; only a missing key means the default.
  ours.n_kv_heads = config.contains("n_kv_heads") ? setting(config, "n_kv_heads", ours.n_heads) : 8;
  ours.hidden = setting<std::size_t>(config, "hidden_dim", 0);
  ours.multiple_of = setting<std::size_t>(config, "multiple_of", 64);
  ours.context_length = setting<std::size_t>(config, "max_seq_len", 512);
  ours.rope_theta = theta;
  ours.rope_pairing = RopePairing::adjacent;
  ours.norm_epsilon = setting(config, "norm_eps", 1e-5);
  return ours;
}

}  // namespace gradus::golden
