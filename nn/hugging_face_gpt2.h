// GPT-2 as the Hugging Face hub has it: GPT2LMHeadModel.
//
// Its projections are stored (in, out), the other way round than everywhere else, and query, key and value as one
// matrix.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "nn/gpt2.h"

namespace gradus::nn {

// The settings of config.json's text; the path is for messages.
// Errors: FileError for text that is no config, another architecture, or a setting that would change the model's
// numbers in a way that this model has not, naming it.
GPT2Config gpt2_config_from_hugging_face(std::string_view text, const std::string& path);
GPT2Config read_hugging_face_gpt2_config(const std::filesystem::path& path);

// The model of a folder with config.json and model.safetensors. Names may have the prefix "transformer." or not; masks,
// and a head that is the embedding's own matrix, may be stored too.
// Errors: FileError; every tensor that is missing, unexpected or of another shape is listed before one is read.
GPT2 read_hugging_face_gpt2(const std::filesystem::path& folder);

}  // namespace gradus::nn
