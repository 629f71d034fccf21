// Byte-pair encoding: a text begins as small symbols, and neighbours are merged as a list of merges has it, the pair
// that stands first in the list first. Sennrich, Haddow, Birch, "Neural Machine Translation of Rare Words with Subword
// Units" (2016), section 3.2.
//
// Two alphabets are in use. With `bytes`, as GPT-2 has it, the symbols are the 256 bytes, cut into pre-tokens by a
// pattern. With `characters`, as LLaMA has it, they are characters, a space being spelled "▁", and a character that the
// vocabulary lacks becomes the tokens <0x00> … <0xFF> of its bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "nn/text/added_tokens.h"
#include "nn/text/merge.h"
#include "nn/text/pre_tokenizer.h"
#include "nn/text/tokenizer.h"

namespace gradus::nn {

// What a tokenizer's file says.
struct BpeModel {
  enum class Alphabet { bytes, characters };

  Alphabet alphabet = Alphabet::bytes;
  std::vector<std::string> spellings;      // of each id, as the file has it: "Ġthe" or "▁the"
  std::vector<std::pair<int, int>> merges;  // left and right id, the first to be merged first
  std::vector<AddedToken> added;
  Pattern pattern = Pattern::none;
  bool whole_words = false;   // a pre-token that is in the vocabulary becomes that token without any merging
  bool prefix_space = false;  // each stretch of text is read with a space before it, which decoding takes away
  bool composed = false;      // the file asks for Unicode's composed form (NFC); here a text is taken as it is
  std::optional<int> begin;   // stands before every text
  std::optional<int> end;     // ends a text; without it, one of the usual names of such tokens is looked for
};

class BpeTokenizer : public Tokenizer {
 public:
  // Errors: an id that does not exist; two ids of one spelling; a merge whose result is not in the vocabulary, or that
  // stands there twice; what AddedTokens refuses; a token of the alphabet of bytes that spells no bytes; characters cut
  // by a pattern, or as whole words.
  explicit BpeTokenizer(BpeModel model);

  std::vector<int> encode(std::string_view text, Specials specials = Specials::as_text) const override;
  // A begin token in front writes nothing; any other special token writes its spelling.
  std::string decode(std::span<const int> ids) const override;

  std::size_t vocab_size() const override { return model_.spellings.size(); }
  std::string name() const override { return "bpe"; }
  std::string to_json() const override;  // Hugging Face's tokenizer.json
  std::vector<SpecialToken> special_tokens() const override;
  std::optional<int> begin_token() const override { return model_.begin; }
  std::optional<int> end_token() const override { return model_.end; }

  const BpeModel& model() const { return model_; }

 private:
  static std::uint64_t key(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32 | right; }

  void check_ids() const;
  void index_vocabulary();
  void index_merges();
  void note_neighbours();
  std::size_t first_piece(std::string_view text) const;
  std::vector<int> symbols(std::string_view piece, std::size_t position) const;
  std::vector<int> encode_piece(std::string_view piece, std::size_t position) const;
  void encode_stretch(std::vector<int>& ids, std::string_view stretch, std::size_t position) const;

  BpeModel model_;
  AddedTokens added_;
  std::vector<std::string> texts_;  // the bytes that each id stands for
  std::vector<bool> is_added_;
  std::unordered_map<std::string, int> ids_;       // of each spelling, added tokens left out
  std::array<int, 256> byte_ids_;                  // −1: no such token
  std::unordered_map<std::uint64_t, Merge> merges_;  // by left and right id
  std::unordered_set<std::uint64_t> neighbours_;   // characters that stand side by side in some token
};

}  // namespace gradus::nn
