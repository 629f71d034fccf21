// The whole models of the reference files as ours: their settings, and where they keep each of our parameters.
#pragma once

#include <string>

#include "nn/config.h"
#include "nn/gpt2.h"
#include "tests/golden/golden.h"

namespace gradus::golden {

// Our tensor is part `part` of `parts` equal ones that theirs has one behind the other.
struct Place {
  std::string tensor;
  std::size_t part = 0;
  std::size_t parts = 1;
};
// "layers.3.attention.query.weight" → {"model.layers.3.self_attn.q_proj.weight"}. Errors: no such parameter of ours.
using PlaceOf = Place (*)(const std::string& ours);
Place minimind_place(const std::string& ours);
Place happy_place(const std::string& ours);
Place nano_gpt_place(const std::string& ours);

// minimind's "rope_scaling"; without settings there is no scaling. Upstream applies attention_factor to every table,
// and so does ours.
RopeScaling yarn_scaling(const Json& settings);

// Settings that a file does not name have upstream's defaults, which are not ours.
nn::Config minimind_config(const Json& config, const Json& rope_scaling = {});
nn::Config happy_config(const Json& config, double rope_theta);
nn::GPT2Config nano_gpt_config(const Json& config);

// happy-llm's loss in training: the surprises that the mask counts, over how many it counts. A target 0 is padding.
Tensor happy_loss(const Tensor& logits, std::span<const int> targets, std::span<const int> loss_mask);

}  // namespace gradus::golden
