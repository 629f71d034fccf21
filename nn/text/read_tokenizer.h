// A tokenizer from wherever it is kept.
#pragma once

#include <memory>
#include <string>

#include "nn/text/tokenizer.h"

namespace gradus::nn {

// `place` is one of
//   bytes              the word: every byte is a token
//   tokenizer.json     Hugging Face's, or this library's for bytes and characters
//   vocab.json         GPT-2's; merges.txt must stand beside it, or x_merges.txt beside x_vocab.json
//   tokenizer.bin      llama2.c's
//   a folder           with one of these three, looked for in this order; a tokenizer_config.json beside a
//                      tokenizer.json says which token ends a text
// Errors: FileError with the path, what was expected and what was found.
std::unique_ptr<Tokenizer> read_tokenizer(const std::string& place);

}  // namespace gradus::nn
