// The whole model at once: two layers, grouped queries, every parameter, weights so large that attention is far from
// uniform.
#include "nn/decoder.h"

#include "tests/grad/check.h"

using namespace gradus;

static void check_decoder(test::CheckTable& table, nn::AttentionKind kind) {
  nn::Decoder decoder({.vocab_size = 7, .width = 8, .n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .hidden = 6,
                       .context_length = 8, .attention = kind});
  std::vector<NamedTensor> inputs;
  for (nn::Parameter parameter : nn::parameters(decoder)) {
    const bool gain = parameter.name.ends_with("gain");
    for (Real& value : parameter.tensor.mutable_values())
      value = static_cast<Real>(gain ? 0.5 + table.rng.uniform() : 0.3 * table.rng.normal());
    inputs.push_back({parameter.name, parameter.tensor});
  }
  const std::vector<int> ids = {1, 4, 2, 6, 0, 3, 5, 2, 2, 1}, targets = {4, 2, 6, 0, -100, 5, 2, 2, 1, 3};
  table.check(inputs, [=] { return decoder.loss(ids, targets, 2); }, {.step = 2e-4});
}

GRAD_CHECK(decoder) {
  check_decoder(table, nn::AttentionKind::composed);
  check_decoder(table, nn::AttentionKind::fused);
}
