#include "nn/hugging_face_gpt2.h"

#include <algorithm>

#include "autograd/error.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/transpose.h"
#include "nn/json_settings.h"
#include "nn/text/text_file.h"
#include "nn/weight_files.h"

namespace gradus::nn {

using Path = std::filesystem::path;

GPT2Config gpt2_config_from_hugging_face(std::string_view text, const std::string& path) {
  const JsonSettings settings(text, path);
  if (settings.texts("architectures") != std::vector<std::string>{"GPT2LMHeadModel"})
    settings.refuse("architectures", "for a GPT-2 it is GPT2LMHeadModel");
  const auto must_be = [&](const char* name, bool value) {
    if (settings.flag(name, value) != value)
      settings.refuse(name, value ? "only true is supported" : "only false is supported");
  };
  must_be("scale_attn_weights", true);
  must_be("scale_attn_by_inverse_layer_idx", false);
  must_be("add_cross_attention", false);
  must_be("tie_word_embeddings", true);

  GPT2Config config;
  config.vocab_size = settings.count("vocab_size");
  config.width = settings.count("n_embd");
  config.n_layers = settings.count("n_layer");
  config.n_heads = settings.count("n_head");
  config.context_length = settings.count("n_positions");
  config.norm_epsilon = settings.number("layer_norm_epsilon", 1e-5);
  if (settings.has("activation_function")) {
    const std::string activation = settings.text("activation_function");
    config.gelu = activation == "gelu" ? GeluKind::erf : GeluKind::tanh;
    if (activation != "gelu" && activation != "gelu_new" && activation != "gelu_pytorch_tanh")
      settings.refuse("activation_function", "gelu_new, gelu_pytorch_tanh and gelu are supported");
  }
  if (settings.has("n_inner") && settings.count("n_inner") != config.hidden())
    settings.refuse("n_inner", "only 4 n_embd is supported");
  try {
    config.validate();
  } catch (const ShapeError& problem) {
    throw FileError(path + ": " + problem.what());
  }
  return config;
}

GPT2Config read_hugging_face_gpt2_config(const Path& path) {
  return gpt2_config_from_hugging_face(read_text_file(path, "a model's settings"), path.string());
}

// What the files should hold.
static std::vector<ParameterCount> stored_table(const GPT2Config& c) {
  std::vector<ParameterCount> table = {{"wte.weight", {c.vocab_size, c.width}, 1},
                                       {"wpe.weight", {c.context_length, c.width}, 1}};
  const auto with_bias = [&](const std::string& name, const Shape& shape, std::size_t copies) {
    table.push_back({name + ".weight", shape, copies});
    table.push_back({name + ".bias", {shape.back()}, copies});
  };
  with_bias("h.N.ln_1", {c.width}, c.n_layers);
  with_bias("h.N.attn.c_attn", {c.width, 3 * c.width}, c.n_layers);
  with_bias("h.N.attn.c_proj", {c.width, c.width}, c.n_layers);
  with_bias("h.N.ln_2", {c.width}, c.n_layers);
  with_bias("h.N.mlp.c_fc", {c.width, c.hidden()}, c.n_layers);
  with_bias("h.N.mlp.c_proj", {c.hidden(), c.width}, c.n_layers);
  with_bias("ln_f", {c.width}, 1);
  return table;
}

static void copy_into(Tensor& target, const Tensor& source) {
  const std::span<const Real> values = source.values();
  std::ranges::copy(values, target.mutable_values().begin());
}

namespace {

// Reads one folder's tensors by their names without the prefix.
struct Source {
  const WeightFiles& files;
  std::string prefix;

  void norm(const std::string& name, LayerNorm& target) const {
    files.read_into(prefix + name + ".weight", target.gain);
    files.read_into(prefix + name + ".bias", target.bias);
  }
  // Columns begin … of the stored matrix are the target's rows.
  void projection(const std::string& name, Linear& target, std::size_t begin = 0) const {
    const std::size_t end = begin + target.weight.extent(0);
    copy_into(target.weight, transpose(slice(files.read(prefix + name + ".weight"), 1, begin, end), 0, 1));
    copy_into(target.bias, slice(files.read(prefix + name + ".bias"), 0, begin, end));
  }
};

}  // namespace

GPT2 read_hugging_face_gpt2(const Path& folder) {
  const Path settings = folder / "config.json";
  const GPT2Config config = read_hugging_face_gpt2_config(settings);
  const WeightFiles files(folder);
  const Source source{files, files.contains("transformer.wte.weight") ? "transformer." : ""};
  expect_tensors(files, stored_table(config), settings, [&](const std::string& name) { return source.prefix + name; },
                 [](const std::string& name) {
                   return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") ||
                          name == "lm_head.weight";
                 });

  GPT2 model(config);
  files.read_into(source.prefix + "wte.weight", model.embedding.weight);
  files.read_into(source.prefix + "wpe.weight", model.positions.weight);
  for (std::size_t i = 0; i < config.n_layers; ++i) {
    const std::string layer = "h." + std::to_string(i) + ".";
    GPT2Block& block = model.layers[i];
    source.norm(layer + "ln_1", block.attention_norm);
    source.projection(layer + "attn.c_attn", block.attention.query);
    source.projection(layer + "attn.c_attn", block.attention.key, config.width);
    source.projection(layer + "attn.c_attn", block.attention.value, 2 * config.width);
    source.projection(layer + "attn.c_proj", block.attention.output);
    source.norm(layer + "ln_2", block.feed_forward_norm);
    source.projection(layer + "mlp.c_fc", block.feed_forward.up);
    source.projection(layer + "mlp.c_proj", block.feed_forward.down);
  }
  source.norm("ln_f", model.norm);
  if (files.contains("lm_head.weight")) {
    const Tensor head = files.read("lm_head.weight"), &embedding = model.embedding.weight;
    expect<FileError>(head.shape() == embedding.shape() && std::ranges::equal(head.values(), embedding.values()),
                      "{}: lm_head.weight differs from the embedding, and a GPT-2 has one matrix for both",
                      files.path().string());
  }
  return model;
}

}  // namespace gradus::nn
