// GPT-2 at once: two layers, two heads, every parameter, both forms of its GELU and of attention.
#include "nn/gpt2.h"

#include "tests/grad/check.h"

using namespace gradus;

static void check_gpt2(test::CheckTable& table, const nn::GPT2Config& config) {
  const nn::GPT2 model(config);
  std::vector<NamedTensor> inputs;
  std::vector<std::string> zero_gradients;
  for (nn::Parameter parameter : nn::parameters(model)) {
    const bool gain = parameter.name.ends_with("gain");
    for (Real& value : parameter.tensor.mutable_values())
      value = static_cast<Real>(gain ? 0.5 + table.rng.uniform() : 0.4 * table.rng.normal());
    inputs.push_back({parameter.name, parameter.tensor});
    // The same number added to every score of a query changes no weight of the softmax.
    if (parameter.name.ends_with("key.bias")) zero_gradients.push_back(parameter.name);
  }
  const std::vector<int> ids = {1, 4, 2, 6, 0, 3, 5, 2, 2, 1}, targets = {4, 2, 6, 0, -100, 5, 2, 2, 1, 3};
  table.check(inputs, [=] { return model.loss(ids, targets, 2); }, {.step = 2e-4, .zero_gradients = zero_gradients});
}

GRAD_CHECK(gpt2) {
  nn::GPT2Config config{.vocab_size = 7, .width = 6, .n_layers = 2, .n_heads = 2, .context_length = 5};
  check_gpt2(table, config);
  config.gelu = nn::GeluKind::erf;
  config.bias = false;
  config.attention = nn::AttentionKind::composed;
  check_gpt2(table, config);
}
