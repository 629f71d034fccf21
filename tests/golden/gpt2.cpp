// nanoGPT's GPT-2: NAME.weights holds one, NAME.io what comes out of it and the gradients of its loss.
#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/slice.h"
#include "tests/golden/loaded.h"

namespace gradus::golden {

static void read_weights(File& file) {
  nn::GPT2 gpt2(nano_gpt_config(file.json("config")));
  load(gpt2, file, nano_gpt_place);
  file.count_case();
  file.compare_numbers("n_unique_params", std::vector{static_cast<double>(gpt2.config.parameter_count())},
                       std::vector{file.json("n_unique_params").get<double>()}, exact);
}

static void read_outputs(File& file) {
  File weights = file.sibling("weights");
  const Batch ids = batch_of(file, "input_ids");
  std::vector<int> targets = file.ids("targets");
  std::ranges::replace(targets, -1, ignore_index);

  for (nn::AttentionKind kind : {nn::AttentionKind::composed, nn::AttentionKind::fused}) {
    nn::GPT2Config config = nano_gpt_config(file.json("config"));
    config.attention = kind;
    nn::GPT2 gpt2(config);
    load(gpt2, weights, nano_gpt_place);
    file.count_case();
    const Tensor h = gpt2.hidden(ids.numbers, ids.rows);
    file.compare("logits", gpt2.logits(h), model);
    file.compare("infer.logits_last", gpt2.logits(slice(h, 1, ids.time - 1, ids.time)), model);
    const Tensor surprise = gpt2.loss(ids.numbers, targets, ids.rows);
    file.compare("loss", surprise, loss);
    compare_gradients(file, gpt2, surprise, nano_gpt_place, "grad.");
  }
}

static constexpr const char* embedding_name = "transformer.wte.weight";
static const Kind weights("gpt2 weights", model_file("weights", embedding_name), read_weights);
static const Kind outputs("gpt2 io", model_file("io", embedding_name), read_outputs);

}  // namespace gradus::golden
