// The tokenizers of the llama2.c project: pieces of text with scores, merged from characters by the best score.
//
//   4 bytes            the length of the longest piece, an unsigned integer
//   then for each id   its score, a float; its length in bytes, an unsigned integer of 4 bytes; the bytes
//
// All little-endian. How many pieces there are only the model knows.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <unordered_map>

#include "nn/text/tokenizer.h"

namespace gradus::nn {

class Llama2cTokenizer : public Tokenizer {
 public:
  static constexpr int begin = 1;         // stands before every text, and so ends the one before
  static constexpr int last_special = 2;  // <unk>, begin and end come first; no text becomes one of them

  struct Piece {
    std::string text;  // what the file spells
    float score;
    int byte;  // where that is <0x00> … <0xFF>; −1 for others
  };

  // Errors: FileError with the path, what was expected and what was found; a file that has not exactly `vocab_size`
  // pieces is refused.
  Llama2cTokenizer(const std::filesystem::path& path, std::size_t vocab_size);
  explicit Llama2cTokenizer(std::vector<Piece> pieces);

  const std::vector<Piece>& pieces() const { return pieces_; }

  // Writes the file that it was read from, byte for byte. Errors: FileError for whatever the system says.
  void write(const std::filesystem::path& path) const;

  // The begin token, the piece " ", and the text's characters, neighbours merged as long as two spell a piece: those
  // of the highest score first, the leftmost among equals. A character that is no piece becomes its bytes; a text that
  // spells the piece of a byte, <0x41>, does not become that byte.
  // Errors: such a character, where the vocabulary has no bytes.
  std::vector<int> encode(std::string_view text, Specials specials = Specials::as_text) const override;
  // The begin token writes nothing, and takes a space from the start of the piece behind it.
  std::string decode(std::span<const int> ids) const override;

  std::size_t vocab_size() const override { return pieces_.size(); }
  std::string name() const override { return "llama2c"; }
  std::string to_json() const override;  // as byte-pair encoding: nn/text/as_bpe.h
  std::optional<int> begin_token() const override { return begin; }
  std::optional<int> end_token() const override { return begin; }

 private:
  void add(Piece piece);
  int id_of(const std::string& text) const;  // −1 if it is no piece
  void append_character(std::vector<int>& ids, std::string_view character, std::size_t offset) const;
  std::vector<int> merged(std::vector<int> ids) const;

  std::uint32_t longest_ = 0;  // bytes of a piece, as the file says
  std::vector<Piece> pieces_;
  std::unordered_map<std::string, int> ids_;  // the lowest id of each spelling that is text
  std::vector<int> byte_ids_ = std::vector(256, -1);  // −1 where there is none
};

}  // namespace gradus::nn
