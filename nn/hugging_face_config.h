// config.json of a Hugging Face folder: another project's names for the settings of a decoder.
//
// Four of its architectures are this decoder: LlamaForCausalLM and MistralForCausalLM as it is, Qwen2ForCausalLM with
// biases on query, key and value, Qwen3ForCausalLM with normalised queries and keys.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "nn/config.h"
#include "nn/safetensors.h"

namespace gradus::nn {

// The settings of a file's text; the path is for messages. Points are paired by halves.
// Errors: FileError for text that is no config, another architecture, or a setting that would change the model's
// numbers in a way that this decoder has not, naming it.
Config config_from_hugging_face(std::string_view text, const std::string& path);
Config read_hugging_face_config(const std::filesystem::path& path);

// The tokens that end a text, as generation_config.json names them or, without it, config.json; some models have several.
// Errors: FileError for what is no id or no list of ids, or for an id outside the vocabulary.
std::vector<int> ends_from_hugging_face(std::string_view text, const std::string& path, std::size_t vocab_size);
std::vector<int> read_hugging_face_ends(const std::filesystem::path& folder, std::size_t vocab_size);

// The ids of the tokens that begin and end a text; −1: there is none.
struct TextEnds {
  int begin = -1;
  int end = -1;
};
// The other way. Errors: ShapeError for a decoder that none of the four architectures is.
std::string config_to_hugging_face(const Config& config, const TextEnds& ends, FloatFormat format);

}  // namespace gradus::nn
