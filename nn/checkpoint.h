// A model as a folder that any program can open: config.json, model.safetensors, tokenizer.json.
#pragma once

#include <filesystem>
#include <memory>

#include "nn/decoder.h"
#include "nn/safetensors.h"
#include "nn/text/tokenizer.h"

namespace gradus::nn {

struct Model {
  Decoder decoder;
  std::unique_ptr<Tokenizer> tokenizer;
};

// Each file is complete under its name or not there: it is written beside it and renamed.
// Errors (FileError): the folder cannot be written.
void save_model(const std::filesystem::path& folder, const Decoder& decoder, const Tokenizer& tokenizer,
                FloatFormat format = exact_format);

// The folder of a model below `folder`: itself, or, where it is a training run's with a file named `latest`, the
// checkpoint that this file names. Errors (FileError): `latest` names no folder beside it.
std::filesystem::path resolve_checkpoint(const std::filesystem::path& folder);

// The model of resolve_checkpoint(folder), with or without its tokenizer.
// Errors (FileError): a file is missing or malformed; tensors are missing, unexpected or of another shape, all of them
// listed; the tokenizer has another number of tokens than the model.
Model load_model(const std::filesystem::path& folder);
Decoder load_decoder(const std::filesystem::path& folder);

}  // namespace gradus::nn
