// A GPT-2 as Hugging Face's library stores it: matrices as (in, out), query, key and value in one.
#pragma once

#include <string>
#include <vector>

#include "autograd/graph.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/transpose.h"
#include "nn/gpt2.h"

namespace gradus::nn {

// The model's tensors under the names and in the order of the layout.
inline std::vector<NamedTensor> stored(const GPT2& model, const std::string& prefix) {
  const NoGrad guard;
  std::vector<NamedTensor> list = {{prefix + "wte.weight", model.embedding.weight}, {prefix + "wpe.weight", model.positions.weight}};
  const auto norm = [&](const std::string& name, const LayerNorm& layer) {
    list.push_back({prefix + name + ".weight", layer.gain});
    list.push_back({prefix + name + ".bias", layer.bias});
  };
  const auto projection = [&](const std::string& name, const Tensor& weight, const Tensor& bias) {
    list.push_back({prefix + name + ".weight", transpose(weight, 0, 1)});
    list.push_back({prefix + name + ".bias", bias});
  };
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::string layer = "h." + std::to_string(i) + ".";
    const GPT2Block& block = model.layers[i];
    const GPT2Attention& attention = block.attention;
    norm(layer + "ln_1", block.attention_norm);
    projection(layer + "attn.c_attn", concat({attention.query.weight, attention.key.weight, attention.value.weight}, 0),
               concat({attention.query.bias, attention.key.bias, attention.value.bias}, 0));
    projection(layer + "attn.c_proj", attention.output.weight, attention.output.bias);
    norm(layer + "ln_2", block.feed_forward_norm);
    projection(layer + "mlp.c_fc", block.feed_forward.up.weight, block.feed_forward.up.bias);
    projection(layer + "mlp.c_proj", block.feed_forward.down.weight, block.feed_forward.down.bias);
  }
  norm("ln_f", model.norm);
  return list;
}

}  // namespace gradus::nn
