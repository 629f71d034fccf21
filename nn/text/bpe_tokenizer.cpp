#include "nn/text/bpe_tokenizer.h"

#include <algorithm>

#include "autograd/error.h"
#include "nn/text/byte_alphabet.h"
#include "nn/text/utf8.h"

namespace gradus::nn {

static constexpr std::string_view space_mark = "▁";

// How models in use call the token that ends a text, the end of a turn before the end of a document.
static constexpr std::string_view end_names[] = {"<|im_end|>", "<|eot_id|>", "<|end|>", "<end_of_turn>", "<|end_of_text|>",
                                                 "<|endoftext|>", "</s>", "<|end_story|>", "<eos>"};

static std::uint64_t key(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32 | right; }

static std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at; (at = text.find(from)) != text.npos; text.remove_prefix(at + from.size()))
    result.append(text.substr(0, at)).append(to);
  return result.append(text);
}

BpeTokenizer::BpeTokenizer(BpeModel model) : model_(std::move(model)), added_(model_.added) {
  expect(model_.alphabet == BpeModel::Alphabet::bytes || (model_.pattern == Pattern::none && !model_.whole_words),
         "bpe: the alphabet of characters goes with no pattern and without whole words");
  check_ids();
  is_added_.resize(vocab_size());
  for (const AddedToken& token : model_.added) is_added_[token.id] = true;
  for (const std::string_view name : end_names)
    for (const AddedToken& token : model_.added)
      if (!model_.end && token.special && token.text == name) model_.end = token.id;
  index_vocabulary();
  index_merges();
  if (model_.alphabet == BpeModel::Alphabet::characters) note_neighbours();
}

void BpeTokenizer::check_ids() const {
  const auto check = [&](int id, std::string_view role) {
    expect(id >= 0 && static_cast<std::size_t>(id) < vocab_size(), "bpe: {} has id {}, but the vocabulary has {} tokens",
           role, id, vocab_size());
  };
  for (const AddedToken& token : model_.added) {
    check(token.id, "an added token");
    expect(model_.spellings[token.id] == token.text, "bpe: id {} must spell {} in the vocabulary as among the added tokens, "
           "found {}", token.id, json_string(token.text), json_string(model_.spellings[token.id]));
  }
  if (model_.begin) check(*model_.begin, "the begin token");
  if (model_.end) check(*model_.end, "the end token");
  for (const auto& [left, right] : model_.merges) check(left, "a merge's left part"), check(right, "a merge's right part");
}

void BpeTokenizer::index_vocabulary() {
  byte_ids_.fill(-1);
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < vocab_size(); ++i) {
    const std::string& spelling = model_.spellings[i];
    const int id = static_cast<int>(i);
    expect(seen.insert(spelling).second, "bpe: id {} spells {} as another id does", id, json_string(spelling));
    if (is_added_[i]) {
      texts_.push_back(spelling);
      continue;
    }
    ids_.emplace(spelling, id);
    int byte = -1;
    if (model_.alphabet == BpeModel::Alphabet::bytes) {
      const std::optional<std::string> bytes = spelled_bytes(spelling);
      expect(bytes && !bytes->empty(), "bpe: id {} spells {}, which stands for no bytes; is it an added token?", id,
             json_string(spelling));
      texts_.push_back(*bytes);
      if (bytes->size() == 1) byte = static_cast<unsigned char>((*bytes)[0]);
    } else {
      byte = byte_of(spelling);
      texts_.push_back(byte >= 0 ? std::string(1, static_cast<char>(byte)) : replaced(spelling, space_mark, " "));
    }
    if (byte >= 0) byte_ids_[byte] = id;
  }
}

// A merge that would spell a special token never applies, for no text becomes one by itself. The tokens of bytes are
// only for what the vocabulary lacks: merging them, or spelling one, would change the text.
void BpeTokenizer::index_merges() {
  const bool characters = model_.alphabet == BpeModel::Alphabet::characters;
  const auto apart = [&](int id) { return is_added_[id] || (characters && byte_of(model_.spellings[id]) >= 0); };
  for (std::size_t rank = 0; rank < model_.merges.size(); ++rank) {
    const auto [left, right] = model_.merges[rank];
    const std::string spelling = model_.spellings[left] + model_.spellings[right];
    const auto merged = ids_.find(spelling);
    if (apart(left) || apart(right) || (merged != ids_.end() && apart(merged->second))) continue;
    if (merged == ids_.end()) {
      expect(std::ranges::any_of(model_.added, [&](const AddedToken& token) { return token.text == spelling; }),
             "bpe: merge {} makes {}, which is not in the vocabulary", rank, json_string(spelling));
      continue;
    }
    const auto fresh = merges_.emplace(key(left, right), Merge{static_cast<double>(rank), merged->second}).second;
    expect(fresh, "bpe: merge {}, of {} and {}, stands there twice", rank, json_string(model_.spellings[left]),
           json_string(model_.spellings[right]));
  }
}

namespace {

struct Character {
  std::string_view bytes;
  char32_t code;  // 0xFFFFFFFF for a byte that is not UTF-8
};

}  // namespace

static Character character_at(std::string_view text, std::size_t offset) {
  const FirstCharacter first = first_character(text.substr(offset));
  if (first.state != Utf8::whole) return {text.substr(offset, 1), 0xFFFFFFFF};
  return {text.substr(offset, first.length), first.code};
}

// A text may be cut wherever two characters meet that stand side by side in no token: no merge can cross. So the
// alphabet of characters, too, has short pieces, and most of them are words.
void BpeTokenizer::note_neighbours() {
  for (std::size_t id = 0; id < vocab_size(); ++id) {
    if (is_added_[id]) continue;
    const std::string& text = texts_[id];
    for (std::size_t offset = 0; offset < text.size();) {
      const Character left = character_at(text, offset);
      offset += left.bytes.size();
      if (offset < text.size()) neighbours_.insert(key(left.code, character_at(text, offset).code));
    }
  }
}

std::size_t BpeTokenizer::first_piece(std::string_view text) const {
  if (model_.alphabet == BpeModel::Alphabet::bytes) return first_pre_token(model_.pattern, text);
  std::size_t end = 0;
  for (char32_t before = 0; end < text.size();) {
    const Character next = character_at(text, end);
    if (end > 0 && !neighbours_.contains(key(before, next.code))) break;
    before = next.code;
    end += next.bytes.size();
  }
  return end;
}

// What a piece is before anything is merged. Its position in the text is for messages.
std::vector<int> BpeTokenizer::symbols(std::string_view piece, std::size_t position) const {
  const bool characters = model_.alphabet == BpeModel::Alphabet::characters;
  std::vector<int> ids;
  for (std::size_t offset = 0; offset < piece.size();) {
    const std::string_view symbol = characters ? character_at(piece, offset).bytes : piece.substr(offset, 1);
    const std::string spelling(symbol == " " ? space_mark : symbol);
    // "▁" itself is spelled in bytes, or it would come back as a space.
    const auto found = characters && symbol != space_mark ? ids_.find(spelling) : ids_.end();
    if (found != ids_.end()) {
      ids.push_back(found->second);
    } else {
      for (const char c : symbol) {
        const int byte = static_cast<unsigned char>(c);
        expect(byte_ids_[byte] >= 0, "bpe: byte 0x{:02X} of the character at offset {} is not in the vocabulary, nor is "
               "the character; use a tokenizer that has all bytes", byte, position + offset);
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
