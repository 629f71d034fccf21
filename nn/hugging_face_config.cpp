#include "nn/hugging_face_config.h"

#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/hugging_face_rope.h"
#include "nn/json_settings.h"
#include "nn/text/text_file.h"

namespace gradus::nn {

using Json = nlohmann::ordered_json;

static std::string read_architecture(const JsonSettings& settings) {
  const std::vector<std::string> list = settings.texts("architectures");
  for (const char* known : {"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"})
    if (list.size() == 1 && list[0] == known) return known;
  settings.refuse("architectures", "supported are LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM and "
                  "Qwen3ForCausalLM");
}

// Settings that change what a model computes, and the one value of each that this decoder computes.
static void refuse_what_matters(const JsonSettings& settings, const std::string& architecture) {
  if (settings.has("hidden_act") && settings.text("hidden_act") != "silu")
    settings.refuse("hidden_act", "only silu is supported");
  const auto must_be_false = [&](const char* name, const char* reason) {
    if (settings.flag(name, false)) settings.refuse(name, reason);
  };
  must_be_false("attention_bias", "a bias on attention's output is not supported");
  must_be_false("mlp_bias", "biases in the feed-forward layer are not supported");
  must_be_false("use_sliding_window", "attention that sees only a window is not supported");
  for (const char* name : {"quantization_config", "layer_scale", "attn_logit_softcapping", "final_logit_softcapping"})
    if (settings.has(name)) settings.refuse(name, "this is not supported");
  if (settings.number("partial_rotary_factor", 1) != 1)
    settings.refuse("partial_rotary_factor", "only heads that are turned whole are supported");
  if (settings.has("layer_types"))
    for (const std::string& type : settings.texts("layer_types"))
      if (type != "full_attention") settings.refuse("layer_types", "only full_attention is supported");
  // In Qwen's files the window is switched by use_sliding_window.
  if (!architecture.starts_with("Qwen") && settings.has("sliding_window") &&
      settings.count("sliding_window") < settings.count("max_position_embeddings"))
    settings.refuse("sliding_window", "a window below max_position_embeddings is not supported; with "
                    "max_position_embeddings of that number the file says what both can compute");
}

Config config_from_hugging_face(std::string_view text, const std::string& path) {
  const JsonSettings settings(text, path);
  const std::string architecture = read_architecture(settings);
  refuse_what_matters(settings, architecture);

  Config config;
  config.vocab_size = settings.count("vocab_size");
  config.width = settings.count("hidden_size");
  config.n_layers = settings.count("num_hidden_layers");
  config.n_heads = settings.count("num_attention_heads");
  // What is left out has a value of its own in each architecture.
  const bool is_llama = architecture == "LlamaForCausalLM", is_qwen3 = architecture == "Qwen3ForCausalLM";
  config.n_kv_heads = is_llama ? settings.count("num_key_value_heads", config.n_heads)
                               : settings.count("num_key_value_heads");
  config.head_dim = is_qwen3 ? settings.count("head_dim") : settings.count("head_dim", 0);
  config.hidden = settings.count("intermediate_size");
  config.context_length = settings.count("max_position_embeddings");
  config.rope_pairing = RopePairing::half;
  config.norm_epsilon = settings.number("rms_norm_eps");
  config.attention_bias = architecture == "Qwen2ForCausalLM";
  config.query_key_norm = is_qwen3;
  config.tied_head = settings.flag("tie_word_embeddings", false);
  if (config.hidden == 0) settings.refuse("intermediate_size", "it must be 1 or more");
  try {
    read_rope(settings, config);
    config.validate();
  } catch (const ShapeError& problem) {
    throw FileError(path + ": " + problem.what());
  }
  return config;
}

Config read_hugging_face_config(const std::filesystem::path& path) {
  return config_from_hugging_face(read_text_file(path, "a model's settings"), path.string());
}

std::vector<int> ends_from_hugging_face(std::string_view text, const std::string& path, std::size_t vocab_size) {
  const JsonSettings settings(text, path);
  std::vector<int> ids;
  if (!settings.has("eos_token_id")) return ids;
  for (const std::size_t id : settings.counts("eos_token_id")) {
    if (id >= vocab_size) settings.refuse("eos_token_id", message("the model has {} tokens", vocab_size));
    ids.push_back(static_cast<int>(id));
  }
  return ids;
}

std::vector<int> read_hugging_face_ends(const std::filesystem::path& folder, std::size_t vocab_size) {
  const std::filesystem::path generation = folder / "generation_config.json";
  const std::filesystem::path path = std::filesystem::exists(generation) ? generation : folder / "config.json";
  return ends_from_hugging_face(read_text_file(path, "a model's settings"), path.string(), vocab_size);
}

std::string config_to_hugging_face(const Config& config, const TextEnds& ends, FloatFormat format) {
  expect(!(config.attention_bias && config.query_key_norm), "hugging face: no architecture has both attention_bias and "
         "query_key_norm; the model cannot be written so");
  const std::string architecture = config.attention_bias ? "Qwen2" : config.query_key_norm ? "Qwen3" : "Llama";
  const auto id = [](int token) { return token < 0 ? Json(nullptr) : Json(token); };
  Json json;
  json["architectures"] = {architecture + "ForCausalLM"};
  json["attention_bias"] = false;
  json["attention_dropout"] = 0.0;
  json["bos_token_id"] = id(ends.begin);
  json["eos_token_id"] = id(ends.end);
  json["head_dim"] = config.resolved_head_dim();
  json["hidden_act"] = "silu";
  json["hidden_size"] = config.width;
  json["initializer_range"] = 0.02;
  json["intermediate_size"] = config.resolved_hidden();
  json["max_position_embeddings"] = max_position_embeddings(config);
  json["mlp_bias"] = false;
  json["model_type"] = config.attention_bias ? "qwen2" : config.query_key_norm ? "qwen3" : "llama";
  json["num_attention_heads"] = config.n_heads;
  json["num_hidden_layers"] = config.n_layers;
  json["num_key_value_heads"] = config.n_kv_heads;
  json["pretraining_tp"] = 1;
  json["rms_norm_eps"] = config.norm_epsilon;
  json["rope_scaling"] = rope_scaling_json(config);
  json["rope_theta"] = config.rope_theta;
  json["tie_word_embeddings"] = config.tied_head;
  json["torch_dtype"] = format == FloatFormat::f64    ? "float64"
                        : format == FloatFormat::f16  ? "float16"
                        : format == FloatFormat::bf16 ? "bfloat16"
                                                      : "float32";
  json["use_cache"] = true;
  json["vocab_size"] = config.vocab_size;
  return json.dump(2) + "\n";
}

}  // namespace gradus::nn
