// What a model expects next, as a table for the terminal.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "nn/text/tokenizer.h"

namespace gradus::tool {

// The likeliest `count` tokens of a distribution, those of probability 0 left out: id, text, probability, a bar.
// Among equals the lowest ids come first.
std::string next_token_table(std::span<const double> probabilities, std::size_t count, const nn::Tokenizer& tokenizer);

}  // namespace gradus::tool
