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

namespace gradus::optim {

struct Corpus {
  std::vector<std::filesystem::path> paths;
  std::string separator;  // a line that ends a document; empty: a text file is one document
};

// The corpus' files. Errors (FileError): a path that is not there, or neither file nor folder; a folder without such files.
std::vector<std::filesystem::path> files_of(const Corpus& corpus);
std::uint64_t bytes_of(const Corpus& corpus);                               // of all files together
std::vector<std::filesystem::path> left_out_of(const Corpus& corpus);  // the folders' other files

// A document, or a part of one.
struct Piece {
  std::string_view text;
  bool begins, ends;  // is it the document's first piece, its last?
};

// Calls each(piece) for the pieces of every document in turn. Documents without text are left out.
//
// A document of more than 8 MiB comes in several pieces. They end behind line breaks between characters that are no spaces,
// where no tokenizer makes one token of both sides; for want of such a place, at 64 MiB behind any line break.
// Errors (FileError): a file that cannot be read or has no text; a line of a .jsonl file that is not such an object, by its
// number; a separator that no text file has; a ShapeError of each(), with the file and the place in it.
void for_each_piece(const Corpus& corpus, const std::function<void(const Piece& piece)>& each);

}  // namespace gradus::optim
