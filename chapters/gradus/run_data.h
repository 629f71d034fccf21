// What a run learns from, as rows; the same for a new run and for one that goes on.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "nn/checkpoint.h"
#include "optim/checkpoint.h"

namespace gradus::tool {

inline constexpr const char* token_file = "tokens.bin";  // of a large text, in the run's folder

// `name` is bytes, chars (all that the source has), or a tokenizer's file or folder.
std::unique_ptr<nn::Tokenizer> tokenizer_of(const std::string& name, const optim::DataSource& source);

// The rows of a source for a model. A large text's tokens go to the folder `out`, unless they are there already.
// Errors: what the source, the tokenizer or the context do not allow; rows that would not teach where an answer ends.
std::unique_ptr<optim::Data> data_of(const optim::DataSource& source, const nn::Model& model, std::uint64_t seed,
                                     const std::filesystem::path& out);

// The loss that no model can get below, in nats per token, where it is known.
std::optional<double> floor_of(const optim::DataSource& source, const nn::Tokenizer& tokenizer);

}  // namespace gradus::tool
