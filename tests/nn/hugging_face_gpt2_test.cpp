#include "nn/hugging_face_gpt2.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "nn/safetensors.h"
#include "tests/nn/gpt2_folder.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::nn;

static const std::string settings = R"({"architectures": ["GPT2LMHeadModel"], "activation_function": "gelu_new", "n_embd": 8,
  "n_layer": 2, "n_head": 2, "n_positions": 16, "vocab_size": 11, "layer_norm_epsilon": 1e-05})";

static GPT2 random_model() {
  GPT2 model({.vocab_size = 11, .width = 8, .n_layers = 2, .n_heads = 2, .context_length = 16});
  Rng rng(5);
  for (Parameter parameter : parameters(model))
    for (Real& value : parameter.tensor.mutable_values()) value = static_cast<Real>(0.3 * rng.normal());
  return model;
}

static std::string refusal(const TemporaryFolder& folder) {
  try {
    read_hugging_face_gpt2(folder.path());
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a GPT-2 comes from its folder as the same function, with the names' prefix or without, masks or not") {
  const NoGrad guard;
  const GPT2 model = random_model();
  const std::vector<int> ids = {3, 1, 4, 1, 5, 9, 2, 6, 10, 0};
  for (const std::string prefix : {"transformer.", ""}) {
    const TemporaryFolder folder;
    folder.write("config.json", settings);
    std::vector<NamedTensor> tensors = stored(model, prefix);
    tensors.push_back({prefix + "h.0.attn.bias", Tensor::zeros({1, 1, 16, 16})});
    tensors.push_back({prefix + "h.0.attn.masked_bias", Tensor::scalar(-1e4)});
    if (!prefix.empty()) tensors.push_back({"lm_head.weight", model.embedding.weight});
    write_safetensors(folder / "model.safetensors", tensors, {}, exact_format);
    const GPT2 back = read_hugging_face_gpt2(folder.path());
    const Tensor x = model.logits(model.hidden(ids, 1)), y = back.logits(back.hidden(ids, 1));
    CHECK(std::ranges::equal(x.values(), y.values()));
  }
}

TEST_CASE("a GPT-2's tensors that do not fit its config are listed before one is read") {
  const TemporaryFolder folder;
  folder.write("config.json", settings);
  std::vector<NamedTensor> tensors = stored(random_model(), "");
  std::erase_if(tensors, [](const NamedTensor& each) { return each.name == "ln_f.bias" || each.name == "h.1.mlp.c_fc.weight"; });
  tensors.push_back({"h.1.mlp.c_fc.weight", Tensor::zeros({32, 8})});
  tensors.push_back({"h.2.ln_1.weight", Tensor::zeros({8})});
  write_safetensors(folder / "model.safetensors", tensors);
  CHECK(refusal(folder) == (folder / "model.safetensors").string() + ": does not fit " + (folder / "config.json").string() + ":"
                           "\n  h.1.mlp.c_fc.weight is (32, 8), the config makes it (8, 32)"
                           "\n  ln_f.bias (8) is missing"
                           "\n  h.2.ln_1.weight (8) is unexpected");
}

TEST_CASE("a head that differs from a GPT-2's embedding is refused") {
  const TemporaryFolder folder;
  folder.write("config.json", settings);
  std::vector<NamedTensor> tensors = stored(random_model(), "transformer.");
  tensors.push_back({"lm_head.weight", Tensor::zeros({11, 8})});
  write_safetensors(folder / "model.safetensors", tensors);
  CHECK(refusal(folder) == (folder / "model.safetensors").string() +
                           ": lm_head.weight differs from the embedding, and a GPT-2 has one matrix for both");
}

TEST_CASE("a GPT-2's settings that would change its numbers are refused by name") {
  CHECK(gpt2_config_from_hugging_face(settings, "c").hidden() == 32);
  const auto no = [](const std::string& from, const std::string& to, const std::string& what) {
    std::string text = settings;
    text.replace(text.find(from), from.size(), to);
    CHECK_THROWS_WITH_AS(gpt2_config_from_hugging_face(text, "c"), ("c: " + what).c_str(), FileError);
  };
  no("GPT2LMHeadModel", "GPT2Model", "architectures is [\"GPT2Model\"]: for a GPT-2 it is GPT2LMHeadModel");
  no("gelu_new", "relu", "activation_function is \"relu\": gelu_new, gelu_pytorch_tanh and gelu are supported");
  no("\"n_embd\"", "\"n_inner\": 33, \"n_embd\"", "n_inner is 33: only 4 n_embd is supported");
  no("\"n_embd\"", "\"scale_attn_weights\": false, \"n_embd\"", "scale_attn_weights is false: only true is supported");
  no("\"n_head\": 2", "\"n_head\": 3", "gpt2: width 8 is not a multiple of n_heads 3; change one of them");
}
