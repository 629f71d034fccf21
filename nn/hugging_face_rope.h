// How a Hugging Face config.json says that rotary positions are stretched over a longer text.
//
//   "rope_scaling": null | {"rope_type": "linear" | "llama3" | "yarn", "factor": 4.0, …}
//
// Older files call the kind "type"; newer ones put it all, with rope_theta, into "rope_parameters".
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "nn/config.h"
#include "nn/json_settings.h"

namespace gradus::nn {

// Fills rope_theta and rope_scaling, and for YaRN raises context_length, which is set already, to the length it is for:
// there it slows points down whatever max_position_embeddings says, here only beyond the training's context.
// Errors: FileError for a kind or a setting that is not supported, by name.
void read_rope(const JsonSettings& settings, Config& config);

// The value of "max_position_embeddings": the context, or with YaRN that of the training where the factor takes it to the
// context. All versions of their library stretch this number, and only newer ones one that is named beside the factor.
std::size_t max_position_embeddings(const Config& config);

// The value of "rope_scaling". Errors: ShapeError for a scaling that cannot be said.
nlohmann::ordered_json rope_scaling_json(const Config& config);

}  // namespace gradus::nn
