// JSON for the readers of tokenizers' files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace gradus::nn {

// Errors: FileError with the path, if the text is no JSON object, or nests deeper than a tokenizer's file has reason to.
nlohmann::json parse_tokenizer_json(std::string_view text, std::string_view path);

// A value for a message: its JSON in ASCII, cut after 400 characters.
std::string shown(const nlohmann::json& value);

}  // namespace gradus::nn
