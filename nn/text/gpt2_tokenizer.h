// GPT-2's tokenizer as it was published: a vocabulary in JSON and, beside it, a list of merges.
#pragma once

#include <filesystem>

#include "nn/text/bpe_tokenizer.h"

namespace gradus::nn {

// vocab.json: {"!": 0, "\"": 1, …}. merges.txt: a merge a line, "Ġ t", the first to be merged first; a first line with
// "#version" says nothing. A token of several bytes that no merge makes can only be a special one: <|endoftext|>.
// Errors: FileError with the path, what was expected and what was found.
BpeTokenizer read_gpt2_tokenizer(const std::filesystem::path& vocabulary, const std::filesystem::path& merges);

}  // namespace gradus::nn
