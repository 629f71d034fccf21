// A model in any of the forms that can be read:
//
//   a folder of ours         config.json with "format": "gradus", model.safetensors, tokenizer.json; or a run's, whose
//                            file `latest` names such a folder
//   a Hugging Face folder    config.json with "architectures", model.safetensors or an index of several, tokenizer.json
//   a llama2.c checkpoint    model.bin, version 0, and its tokenizer.bin
//
// A Hugging Face folder with a GPT-2 is no Decoder, but a language model like the others, which writes and can be compared.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "nn/checkpoint.h"
#include "nn/language_model.h"

namespace gradus::nn {

enum class ModelForm { gradus, hugging_face, llama2c, gpt2 };

std::string_view word_of(ModelForm form);  // "gradus", "hf", "llama2c" or "gpt2"
// The form of a decoder. Errors: no such word, listing those there are.
void from_word(std::string_view word, ModelForm& form);

// What is at the path. Errors here and below: FileError with the path, what was expected and what was found.
ModelForm form_of(const std::filesystem::path& path);

// The settings alone, the model, or the model with its tokenizer. The tokenizer is the file or folder of
// `tokenizer_path`, or where that is empty the one beside the model: tokenizer.json, or with a llama2.c checkpoint
// tokenizer.bin or tok512.bin or the like, if there is only one of them.
// Errors also: there is no tokenizer, or another's; more than one; a GPT-2, where a Config or a Decoder is asked for.
Config read_any_config(const std::filesystem::path& path);
Decoder load_any_decoder(const std::filesystem::path& path);
std::unique_ptr<Tokenizer> load_any_tokenizer(const std::filesystem::path& path,
                                              const std::filesystem::path& tokenizer_path = {});
Model load_any(const std::filesystem::path& path, const std::filesystem::path& tokenizer_path = {});

// The tokens that end a text by the model's own files, besides the tokenizer's: a Hugging Face folder may name several.
std::vector<int> end_tokens_of(const std::filesystem::path& path);

// What can write, a GPT-2 too. Attention is computed as its settings say, or as `attention` does.
LanguageModel load_language_model(const std::filesystem::path& path, std::optional<AttentionKind> attention = {});

}  // namespace gradus::nn
