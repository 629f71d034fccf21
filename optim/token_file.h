// Tokens in a file, so that a text larger than memory can be learnt from.
//
//   32 bytes   "GRADUSTK", the version 1 and the bytes of a token (2 or 4), two integers of 4 bytes; the number of tokens and
//              a hash of the tokenizer, two of 8 bytes
//   tokens     unsigned integers of 2 or 4 bytes
//
// All little-endian. A window is read with one call at its place. The file is never mapped into memory: the pages of a mapping
// count as the program's own until the whole file is there, and a file that becomes shorter under a mapping kills it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "nn/atomic_file.h"
#include "nn/text/tokenizer.h"
#include "optim/token_source.h"

namespace gradus::optim {

// A hash of all that the tokenizer is: of its to_json().
std::uint64_t hash_of(const nn::Tokenizer& tokenizer);

class TokenFile : public TokenSource {
 public:
  // Errors here and below: FileError with the path, what was expected and what was found: no such file or format, a size
  // that does not fit the number of tokens, tokens of another tokenizer, an id that is not below its vocab_size.
  TokenFile(const std::filesystem::path& path, const nn::Tokenizer& tokenizer);
  ~TokenFile() override;
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t begin, std::span<int> tokens) const override;

 private:
  void read_bytes(std::uint64_t offset, void* data, std::size_t bytes) const;

  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
  std::size_t token_bytes_ = 0;
  std::size_t vocab_size_;
};

// Writes such a file, a piece at a time; it is there when commit() was called. Errors: as AtomicFile; an id that the tokenizer
// does not have.
class TokenFileWriter {
 public:
  TokenFileWriter(const std::filesystem::path& path, const nn::Tokenizer& tokenizer);
  void write(std::span<const int> tokens);
  void commit();

 private:
  nn::AtomicFile file_;
  std::uint64_t hash_;
  std::size_t vocab_size_;
  std::size_t token_bytes_;
  std::uint64_t size_ = 0;
};

}  // namespace gradus::optim
