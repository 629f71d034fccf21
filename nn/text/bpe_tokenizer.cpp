#include "nn/text/bpe_tokenizer.h"

#include <algorithm>

#include "autograd/error.h"
#include "nn/text/byte_alphabet.h"
#include "nn/text/utf8.h"

namespace gradus::nn {

std::size_t BpeTokenizer::first_piece(std::string_view text) const {
  if (model_.alphabet == BpeModel::Alphabet::bytes) return first_pre_token(model_.pattern, text);
  std::size_t end = 0;
  for (char32_t before = 0; end < text.size();) {
    const FirstCharacter next = first_character_or_byte(text.substr(end));
    if (end > 0 && !neighbours_.contains(key(before, next.code))) break;
    before = next.code;
    end += next.length;
  }
  return end;
}

// What a piece is before anything is merged. Its position in the text is for messages.
std::vector<int> BpeTokenizer::symbols(std::string_view piece, std::size_t position) const {
  const bool characters = model_.alphabet == BpeModel::Alphabet::characters;
  std::vector<int> ids;
  for (std::size_t offset = 0; offset < piece.size();) {
    const std::string_view left = piece.substr(offset);
    const std::string_view symbol = left.substr(0, characters ? first_character_or_byte(left).length : 1);
    const std::string spelling(symbol == " " ? space_mark : symbol);
    // "▁" itself is spelled in bytes, or it would come back as a space.
    const auto found = characters && symbol != space_mark ? ids_.find(spelling) : ids_.end();
    if (found != ids_.end()) {
      ids.push_back(found->second);
    } else {
      for (const char c : symbol) {
        const int byte = static_cast<unsigned char>(c);
        expect(byte_ids_[byte] >= 0,
               "bpe: byte 0x{:02X} of the character at offset {} is not in the vocabulary, nor is the character; use a "
               "tokenizer that has all bytes", byte, position + offset);
        ids.push_back(byte_ids_[byte]);
      }
    }
    offset += symbol.size();
  }
  return ids;
}

std::vector<int> BpeTokenizer::encode_piece(std::string_view piece, std::size_t position) const {
  if (model_.whole_words)
    if (const auto found = ids_.find(spell_bytes(piece)); found != ids_.end()) return {found->second};
  return merge_neighbours(symbols(piece, position), [&](int left, int right) -> std::optional<Merge> {
    const auto found = merges_.find(key(left, right));
    return found == merges_.end() ? std::nullopt : std::optional(found->second);
  });
}

// Most pieces of a text are words that came before: each is merged once.
void BpeTokenizer::encode_stretch(std::vector<int>& ids, std::string_view stretch, std::size_t position) const {
  std::string spaced;
  if (model_.prefix_space) stretch = spaced.append(" ").append(stretch);
  const std::size_t prefix = spaced.empty() ? 0 : 1;
  std::unordered_map<std::string_view, std::vector<int>> known;
  for (std::size_t at = 0; at < stretch.size();) {
    const std::string_view piece = stretch.substr(at, first_piece(stretch.substr(at)));
    const auto [entry, fresh] = known.try_emplace(piece);
    if (fresh) entry->second = encode_piece(piece, position + std::max(at, prefix) - prefix);
    ids.insert(ids.end(), entry->second.begin(), entry->second.end());
    at += piece.size();
  }
}

std::vector<int> BpeTokenizer::encode(std::string_view text, Specials specials) const {
  std::vector<int> ids;
  if (model_.begin) ids.push_back(*model_.begin);
  added_.split(
      text, specials,
      [&](std::string_view stretch) {
        encode_stretch(ids, stretch, static_cast<std::size_t>(stretch.data() - text.data()));
      },
      [&](const AddedToken& token) { ids.push_back(token.id); });
  return ids;
}

std::string BpeTokenizer::decode(std::span<const int> ids) const {
  std::string text;
  bool begins_stretch = !model_.begin;  // whoever has a begin token begins with it
  for (std::size_t i = 0; i < ids.size(); ++i) {
    expect(ids[i] >= 0 && static_cast<std::size_t>(ids[i]) < vocab_size(),
           "bpe: id {} at position {} must be below the vocabulary's {} tokens", ids[i], i, vocab_size());
    std::string_view written = texts_[ids[i]];
    if (i == 0 && ids[i] == model_.begin)
      written = "";
    else if (begins_stretch && model_.prefix_space && !is_added_[ids[i]] && written.starts_with(' '))
      written.remove_prefix(1);
    begins_stretch = is_added_[ids[i]];
    text += written;
  }
  return text;
}

std::vector<SpecialToken> BpeTokenizer::special_tokens() const {
  std::vector<SpecialToken> specials;
  for (const AddedToken& token : model_.added)
    if (token.special) specials.push_back({token.text, token.id});
  return specials;
}

}  // namespace gradus::nn
