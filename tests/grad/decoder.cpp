// The whole model at once: two layers, grouped queries, every parameter, weights so large that attention is far from
// uniform.
#include "nn/decoder.h"

#include "tests/grad/check.h"

using namespace gradus;

static void check_decoder(test::CheckTable& table, const nn::Config& config, std::span<const int> valid = {}) {
  nn::Decoder decoder(config);
  std::vector<NamedTensor> inputs;
  for (nn::Parameter parameter : nn::parameters(decoder)) {
    const bool gain = parameter.name.ends_with("gain");
    for (Real& value : parameter.tensor.mutable_values())
      value = static_cast<Real>(gain ? 0.5 + table.rng.uniform() : 0.3 * table.rng.normal());
    inputs.push_back({parameter.name, parameter.tensor});
  }
  const std::vector<int> ids = {1, 4, 2, 6, 0, 3, 5, 2, 2, 1};
  std::vector<int> targets = {4, 2, 6, 0, -100, 5, 2, 2, 1, 3};
  for (std::size_t i = 0; i < valid.size(); ++i)
    if (valid[i] == 0) targets[i] = -100;
  table.check(inputs, [=] { return decoder.loss(ids, targets, 2, {.valid = valid}); }, {.step = 2e-4});
}

GRAD_CHECK(decoder) {
  const nn::Config plain{.vocab_size = 7, .width = 8, .n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .hidden = 6,
                         .context_length = 8};
  nn::Config other = plain;
  other.head_dim = 6;
  other.rope_pairing = RopePairing::half;
  other.rope_scaling = {.kind = RopeScalingKind::yarn, .factor = 4, .original_context = 2, .attention_factor = 1.2};
  other.attention_bias = other.query_key_norm = true;
  other.tied_head = false;
  const std::vector<int> valid = {0, 1, 1, 0, 1, 1, 1, 1, 1, 0};
  for (nn::AttentionKind kind : {nn::AttentionKind::composed, nn::AttentionKind::fused}) {
    nn::Config config = plain;
    config.attention = kind;
    check_decoder(table, config);
    other.attention = kind;
    check_decoder(table, other);
    check_decoder(table, other, valid);
  }
}
