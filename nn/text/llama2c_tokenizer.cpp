#include "nn/text/llama2c_tokenizer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <utility>

#include "autograd/error.h"
#include "nn/atomic_file.h"
#include "nn/text/as_bpe.h"
#include "nn/text/byte_alphabet.h"
#include "nn/text/merge.h"

namespace gradus::nn {

static_assert(std::endian::native == std::endian::little, "llama2.c files are little-endian: swap bytes here first");

using Path = std::filesystem::path;

template <class Number>
static Number read_number(std::istream& stream) {
  Number number{};
  stream.read(reinterpret_cast<char*>(&number), sizeof(Number));
  return number;
}

Llama2cTokenizer::Llama2cTokenizer(const Path& path, std::size_t vocab_size) {
  const std::string file = path.string();
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  expect<FileError>(!error, "{}: expected a llama2.c tokenizer, found: {}", file, error.message());
  std::ifstream stream(path, std::ios::binary);
  expect<FileError>(stream.good(), "{}: expected a llama2.c tokenizer, found a file that cannot be opened; is it yours "
                    "to read?", file);
  expect<FileError>(vocab_size >= 3 && vocab_size <= std::numeric_limits<int>::max(), "{}: expected a vocabulary of 3 "
                    "to {} pieces, found a model with {}", file, std::numeric_limits<int>::max(), vocab_size);
  expect<FileError>(size >= 4 + 8 * vocab_size, "{}: expected {} pieces, for which {} bytes are the least, found {}; "
                    "does the tokenizer belong to this model?", file, vocab_size, 4 + 8 * vocab_size, size);

  longest_ = read_number<std::uint32_t>(stream);
  std::uint64_t position = 4;
  for (std::size_t id = 0; id < vocab_size; ++id) {
    expect<FileError>(size - position >= 8, "{}: expected {} pieces, found the end at piece {}; does the tokenizer "
                      "belong to this model?", file, vocab_size, id);
    const auto score = read_number<float>(stream);
    const auto length = read_number<std::uint32_t>(stream);
    position += 8;
    expect<FileError>(std::isfinite(score), "{}: piece {}: expected a finite score, found {}", file, id, score);
    expect<FileError>(length <= longest_ && length <= size - position, "{}: piece {}: expected at most {} bytes, found "
                      "a length of {} with {} bytes left; was the file cut off?", file, id, longest_, length,
                      size - position);
    std::string text(length, '\0');
    stream.read(text.data(), length);
    expect<FileError>(stream.good(), "{}: piece {}: expected {} bytes, found that they cannot be read", file, id,
                      length);
    position += length;

    const int byte = byte_of(text);
    add({std::move(text), score, byte});
  }
  expect<FileError>(position == size, "{}: expected the end after {} pieces, found {} more bytes; does the tokenizer "
                    "belong to this model?", file, vocab_size, size - position);
}

Llama2cTokenizer::Llama2cTokenizer(std::vector<Piece> pieces) {
  for (Piece& piece : pieces) {
    longest_ = std::max(longest_, static_cast<std::uint32_t>(piece.text.size()));
    add(std::move(piece));
  }
}

void Llama2cTokenizer::add(Piece piece) {
  const int id = static_cast<int>(pieces_.size());
  if (piece.byte >= 0 && byte_ids_[piece.byte] < 0) byte_ids_[piece.byte] = id;
  if (piece.byte < 0 && id > last_special) ids_.emplace(piece.text, id);
  pieces_.push_back(std::move(piece));
}

void Llama2cTokenizer::write(const Path& path) const {
  AtomicFile file(path);
  file.write(&longest_, sizeof longest_);
  for (const Piece& piece : pieces_) {
    const auto length = static_cast<std::uint32_t>(piece.text.size());
    file.write(&piece.score, sizeof piece.score);
    file.write(&length, sizeof length);
    file.write(piece.text.data(), length);
  }
  file.commit();
}

int Llama2cTokenizer::id_of(const std::string& text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? -1 : found->second;
}

// A byte and those after it that continue a character, as llama2.c groups them: never more than four, and broken
// UTF-8 is no error.
static std::size_t character_length(std::string_view text) {
  std::size_t length = 1;
  while (length < 4 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) ++length;
  return length;
}

void Llama2cTokenizer::append_character(std::vector<int>& ids, std::string_view character, std::size_t offset) const {
  if (const int id = id_of(std::string(character)); id >= 0) return ids.push_back(id);
  for (const char c : character) {
    const int byte = static_cast<unsigned char>(c), id = byte_ids_[byte];
    expect(id >= 0, "llama2c: byte 0x{:02X} of the character at offset {} is not in the vocabulary, nor is the "
           "character", byte, offset);
    ids.push_back(id);
  }
}

std::vector<int> Llama2cTokenizer::encode(std::string_view text, Specials) const {
  std::vector<int> ids = {begin};
  if (const int space = id_of(" "); !text.empty() && space >= 0) ids.push_back(space);
  for (std::size_t offset = 0; offset < text.size();) {
    const std::string_view character = text.substr(offset, character_length(text.substr(offset)));
    append_character(ids, character, offset);
    offset += character.size();
  }
  return merged(std::move(ids));
}

std::vector<int> Llama2cTokenizer::merged(std::vector<int> ids) const {
  return merge_neighbours(std::move(ids), [&](int left, int right) -> std::optional<Merge> {
    const int id = id_of(pieces_[left].text + pieces_[right].text);
    return id < 0 ? std::nullopt : std::optional(Merge{-static_cast<double>(pieces_[id].score), id});
  });
}

std::string Llama2cTokenizer::decode(std::span<const int> ids) const {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    expect(ids[i] >= 0 && static_cast<std::size_t>(ids[i]) < pieces_.size(),
           "llama2c: id {} at position {} must be below the vocabulary's {} pieces", ids[i], i, pieces_.size());
    if (ids[i] == begin) continue;
    const Piece& piece = pieces_[ids[i]];
    const bool first = i > 0 && ids[i - 1] == begin;
    if (piece.byte >= 0)
      text += static_cast<char>(piece.byte);
    else
      text += std::string_view(piece.text).substr(first && piece.text.starts_with(' ') ? 1 : 0);
  }
  return text;
}

std::string Llama2cTokenizer::to_json() const { return BpeTokenizer(as_bpe(*this)).to_json(); }

}  // namespace gradus::nn
