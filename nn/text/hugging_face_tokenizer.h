// Hugging Face's tokenizer.json, as far as it describes byte-pair encoding over bytes or over characters.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "nn/text/bpe_tokenizer.h"

namespace gradus::nn {

// Four ways of this library differ from Hugging Face's, so that every text comes back from its ids: "▁" in a text
// becomes the tokens of its bytes; a space goes before a text also where one stands there already (add_prefix_space); a
// character that the vocabulary lacks is an error, not the token for unknown ones; and the normalizer NFC, which
// composes "e" and an accent into "é", is kept in the file but not applied. Other texts get the same ids.
//
// Errors: FileError with the path, what was expected and what was found: a malformed file, or a component that is not
// known here, with its text.
BpeModel read_hugging_face_tokenizer(const nlohmann::json& file, std::string_view path);

// The same file for the same model. The end token's entry is marked with "end": true, which other readers pass over.
std::string write_hugging_face_tokenizer(const BpeModel& model);

// How a text is normalised, cut, put behind a begin token, and decoded. Errors: as above.
void read_components(const nlohmann::json& file, std::string_view path, BpeModel& model);
void write_components(const BpeModel& model, nlohmann::ordered_json& file);

}  // namespace gradus::nn
