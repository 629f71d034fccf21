#include "tests/golden/whole_decoder.h"

#include "autograd/ops/reshape.h"

namespace gradus::golden {

void compare_sizes(File& file, const nn::Config& config) {
  const auto compare = [&](const char* key, std::size_t ours) {
    if (!file.has_text(key)) return;
    const double theirs = file.json(key);
    file.compare_numbers(key, std::vector{static_cast<double>(ours)}, std::span(&theirs, 1), exact);
  };
  compare("n_unique_params", config.parameter_count());
  compare("ffn_hidden", config.resolved_hidden());
}

void compare_hidden_states(File& file, const nn::Decoder& decoder, const Batch& ids) {
  const nn::Config& c = decoder.config;
  const RopeTable table = rope_table(ids.time, c.resolved_head_dim(), c.rope_theta, c.rope_scaling, c.context_length);
  Tensor h = reshape(decoder.embedding(ids.numbers), {ids.rows, ids.time, c.width});
  file.compare("h.embed", h, model);
  for (std::size_t layer = 0; layer < c.n_layers; ++layer) {
    const nn::Block& block = decoder.layers[layer];
    const std::string number = std::to_string(layer);
    if (file.has("h.attn" + number))
      file.compare("h.attn" + number, block.attention(block.attention_norm(h), table), model);
    h = block(h, table);
    file.compare("h.block" + number, h, model);
  }
  file.compare("h.norm", decoder.norm(h), model);
}

void compare_logits(File& file, nn::Decoder& decoder, const Batch& ids) {
  for (nn::AttentionKind kind : {nn::AttentionKind::composed, nn::AttentionKind::fused}) {
    decoder.set_attention(kind);
    const Tensor logits = decoder.logits(decoder.hidden(ids.numbers, ids.rows));
    file.compare("logits", logits, model);
    file.compare("logits.f32", logits, float_result(model));
    // Upstream in double with tables of float32; ours come from angles in double.
    file.compare("logits.rope_table_f32", logits, float_result(model));
  }
}

}  // namespace gradus::golden
