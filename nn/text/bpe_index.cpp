// A model of byte-pair encoding, checked and made quick to look up.
#include "nn/text/bpe_tokenizer.h"

#include <algorithm>

#include "autograd/error.h"
#include "nn/text/byte_alphabet.h"
#include "nn/text/utf8.h"

namespace gradus::nn {

// How models in use call the token that ends a text, the end of a turn before the end of a document.
static constexpr std::string_view end_names[] = {"<|im_end|>",      "<|eot_id|>",    "<|end|>", "<end_of_turn>",
                                                 "<|end_of_text|>", "<|endoftext|>", "</s>",    "<|end_story|>",
                                                 "<eos>"};

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
    expect(id >= 0 && static_cast<std::size_t>(id) < vocab_size(),
           "bpe: {} has id {}, but the vocabulary has {} tokens", role, id, vocab_size());
  };
  for (const AddedToken& token : model_.added) {
    check(token.id, "an added token");
    expect(model_.spellings[token.id] == token.text,
           "bpe: id {} must spell {} in the vocabulary as among the added tokens, found {}", token.id,
           json_string(token.text), json_string(model_.spellings[token.id]));
  }
  if (model_.begin) check(*model_.begin, "the begin token");
  if (model_.end) check(*model_.end, "the end token");
  for (const auto& [left, right] : model_.merges) {
    check(left, "a merge's left part");
    check(right, "a merge's right part");
  }
}

void BpeTokenizer::index_vocabulary() {
  byte_ids_.fill(-1);
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < vocab_size(); ++i) {
    const std::string& spelling = model_.spellings[i];
    const int id = static_cast<int>(i);
    if (!seen.insert(spelling).second)
      throw ShapeError(message("bpe: id {} spells {} as another id does", id, json_string(spelling)));
    if (is_added_[i]) {
      texts_.push_back(spelling);
      continue;
    }
    ids_.emplace(spelling, id);
    int byte = -1;
    if (model_.alphabet == BpeModel::Alphabet::bytes) {
      const std::optional<std::string> bytes = spelled_bytes(spelling);
      if (!bytes || bytes->empty())
        throw ShapeError(message("bpe: id {} spells {}, which stands for no bytes; is it an added token?", id,
                                 json_string(spelling)));
      texts_.push_back(*bytes);
      if (bytes->size() == 1) byte = static_cast<unsigned char>((*bytes)[0]);
    } else {
      byte = byte_of(spelling);
      texts_.push_back(byte >= 0 ? std::string(1, static_cast<char>(byte)) : unmark_spaces(spelling));
    }
    if (byte >= 0) byte_ids_[byte] = id;
  }
}

// A merge that would spell a special token never applies, for no text becomes one by itself. The tokens of bytes are
// only for what the vocabulary lacks: merging them, or spelling one, would change the text.
void BpeTokenizer::index_merges() {
  const bool characters = model_.alphabet == BpeModel::Alphabet::characters;
  const auto apart = [&](int id) { return is_added_[id] || (characters && byte_of(model_.spellings[id]) >= 0); };
  std::unordered_set<std::string_view> added;
  for (const AddedToken& token : model_.added) added.insert(token.text);
  for (std::size_t rank = 0; rank < model_.merges.size(); ++rank) {
    const auto [left, right] = model_.merges[rank];
    const std::string spelling = model_.spellings[left] + model_.spellings[right];
    const auto merged = ids_.find(spelling);
    if (apart(left) || apart(right) || (merged != ids_.end() && apart(merged->second))) continue;
    if (merged == ids_.end()) {
      if (added.contains(spelling)) continue;
      throw ShapeError(
          message("bpe: merge {} makes {}, which is not in the vocabulary", rank, json_string(spelling)));
    }
    if (!merges_.emplace(key(left, right), Merge{static_cast<double>(rank), merged->second}).second)
      throw ShapeError(message("bpe: merge {}, of {} and {}, stands there twice", rank,
                               json_string(model_.spellings[left]), json_string(model_.spellings[right])));
  }
}

// A text may be cut wherever two characters meet that stand side by side in no token: no merge can cross. So the
// alphabet of characters, too, has short pieces, and most of them are words.
void BpeTokenizer::note_neighbours() {
  for (std::size_t id = 0; id < vocab_size(); ++id) {
    if (is_added_[id]) continue;
    const std::string& text = texts_[id];
    for (std::size_t offset = 0; offset < text.size();) {
      const FirstCharacter left = first_character_or_byte(std::string_view(text).substr(offset));
      offset += left.length;
      if (offset == text.size()) break;
      neighbours_.insert(key(left.code, first_character_or_byte(std::string_view(text).substr(offset)).code));
    }
  }
}

}  // namespace gradus::nn
