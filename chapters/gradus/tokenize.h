// gradus tokenize: learning a tokenizer, and looking at what one does.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gradus::tool {

struct TokenizeOptions {
  // train
  std::vector<std::string> texts;  // as optim::Corpus has it
  std::string separator;           // likewise
  std::size_t vocab = 0;
  std::string pattern = "gpt2";
  std::vector<std::string> specials;
  std::string out;
  // encode, decode, inspect
  std::string tokenizer = "bytes";  // as nn::read_tokenizer has it
  bool allow_special = false;
};

void tokenize_train(const TokenizeOptions& options);
// Standard input to standard output: a text to ids with spaces between them, ids to exactly their text, and a text to a
// line for each of its tokens.
void tokenize_encode(const TokenizeOptions& options);
void tokenize_decode(const TokenizeOptions& options);
void tokenize_inspect(const TokenizeOptions& options);

}  // namespace gradus::tool
