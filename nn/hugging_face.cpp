#include "nn/hugging_face.h"

#include <algorithm>
#include <utility>

#include "autograd/error.h"
#include "nn/weight_files.h"

namespace gradus::nn {

using Path = std::filesystem::path;

static constexpr const char* embedding_name = "model.embed_tokens.weight";
static constexpr const char* head_name = "lm_head.weight";

std::string hugging_face_name(const std::string& name) {
  static constexpr std::pair<std::string_view, std::string_view> whole[] = {
      {"embedding.weight", embedding_name}, {"norm.gain", "model.norm.weight"}, {"head.weight", head_name}};
  static constexpr std::pair<std::string_view, std::string_view> modules[] = {
      {"attention_norm.gain", "input_layernorm.weight"},
      {"attention.query.", "self_attn.q_proj."},
      {"attention.key.", "self_attn.k_proj."},
      {"attention.value.", "self_attn.v_proj."},
      {"attention.output.", "self_attn.o_proj."},
      {"attention.query_norm.gain", "self_attn.q_norm.weight"},
      {"attention.key_norm.gain", "self_attn.k_norm.weight"},
      {"feed_forward_norm.gain", "post_attention_layernorm.weight"},
      {"feed_forward.gate.", "mlp.gate_proj."},
      {"feed_forward.up.", "mlp.up_proj."},
      {"feed_forward.down.", "mlp.down_proj."}};
  for (const auto& [ours, theirs] : whole)
    if (name == ours) return std::string(theirs);
  const std::size_t dot = name.find('.', std::string_view("layers.").size());
  expect(name.starts_with("layers.") && dot != name.npos, "hugging face: {} is no tensor of a decoder", name);
  const std::string layer = "model." + name.substr(0, dot + 1), rest = name.substr(dot + 1);
  for (const auto& [ours, theirs] : modules)
    if (rest.starts_with(ours)) return layer + std::string(theirs) + rest.substr(ours.size());
  throw ShapeError(message("hugging face: {} is no tensor of a decoder", name));
}

static void expect_equal_heads(const WeightFiles& files, const Tensor& embedding) {
  const Tensor head = files.read(head_name);
  expect<FileError>(head.shape() == embedding.shape() && std::ranges::equal(head.values(), embedding.values()),
                    "{}: {} and {} differ, and the config says that they are one (tie_word_embeddings); which is "
                    "meant?", files.path().string(), embedding_name, head_name);
}

Decoder read_hugging_face(const Path& folder) {
  const Config config = read_hugging_face_config(folder / "config.json");
  const WeightFiles files(folder);
  const bool as_head = config.tied_head && files.contains(head_name), as_embedding = files.contains(embedding_name);
  const auto name_of = [&](const std::string& ours) {
    const std::string name = hugging_face_name(ours);
    return as_head && !as_embedding && name == embedding_name ? head_name : name;
  };
  const auto ignored = [&](const std::string& name) {  // the angles' speeds follow from the config
    return name.ends_with(".rotary_emb.inv_freq") || (as_head && name == head_name);
  };
  expect_tensors(files, config.parameter_table(), folder / "config.json", name_of, ignored);

  Decoder decoder(config);
  for (Parameter parameter : parameters(decoder)) files.read_into(name_of(parameter.name), parameter.tensor);
  if (as_head && as_embedding) expect_equal_heads(files, decoder.embedding.weight);
  return decoder;
}

}  // namespace gradus::nn
