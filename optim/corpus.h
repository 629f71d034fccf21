// Texts to learn from, in pieces that fit into memory, however large the files are.
//
//   FILE.txt      one document, or several with a line of their own between them (the separator)
//   FILE.jsonl    a document a line: {"text": "…"}
//   FOLDER        every .txt and .jsonl file below it, in the order of their paths
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nn/text/tokenizer.h"

namespace gradus::optim {

struct Corpus {
  std::vector<std::filesystem::path> paths;
  std::string separator;  // a line that ends a document; empty: a text file is one document
};

// The corpus' files. Errors (FileError): a path that is not there; a folder without such files.
std::vector<std::filesystem::path> files_of(const Corpus& corpus);
std::uint64_t bytes_of(const Corpus& corpus);  // of all files together

// Calls each(text, ends) for the pieces of every document in turn; `ends` says that it is the document's last one. A piece
// ends behind a line break where a document has several. Documents without text are left out.
// Errors (FileError): no text in the whole corpus; a file that cannot be read; a line of a .jsonl file that is not such an
// object, by its number.
void for_each_piece(const Corpus& corpus, const std::function<void(std::string_view text, bool ends)>& each);

// The corpus as tokens, a piece at a time. Behind each document stands the tokenizer's end token, where it has one, so that
// a model learns where texts end. A text that spells a special token is text.
// Errors (FileError): those above; a character that the tokenizer does not know, with the file.
void encode(const Corpus& corpus, const nn::Tokenizer& tokenizer, const std::function<void(std::span<const int>)>& each);
std::vector<int> encode(const Corpus& corpus, const nn::Tokenizer& tokenizer);

}  // namespace gradus::optim
