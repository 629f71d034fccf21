// Models in the layout of the Hugging Face hub: a folder with config.json, model.safetensors (or several files with an
// index), tokenizer.json and generation_config.json. nn/hugging_face_config.h says which architectures.
#pragma once

#include <filesystem>
#include <string>

#include "nn/decoder.h"
#include "nn/hugging_face_config.h"
#include "nn/text/tokenizer.h"

namespace gradus::nn {

// "layers.3.attention.query.weight" → "model.layers.3.self_attn.q_proj.weight"
std::string hugging_face_name(const std::string& name);

// The model, without its tokenizer. A tied head may be stored as embedding, as head, or as both if they are equal.
// Errors: FileError; every tensor that is missing, unexpected or of another shape is listed before one is read.
Decoder read_hugging_face(const std::filesystem::path& folder);

// Writes config.json, generation_config.json and model.safetensors, and of a tokenizer tokenizer.json and
// tokenizer_config.json. Rows of a model that pairs adjacent numbers are put in the other order: the same function, and
// every reader of this layout expects it.
// Errors: FileError for whatever the system says; ShapeError for a model or a tokenizer that the layout cannot express.
void write_hugging_face(const std::filesystem::path& folder, const Decoder& decoder,
                        const Tokenizer* tokenizer = nullptr, FloatFormat format = FloatFormat::f32);

}  // namespace gradus::nn
