#include "nn/text/char_tokenizer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "autograd/error.h"
#include "nn/text/utf8.h"

namespace gradus::nn {

// The character of `text` that begins at byte `offset`.
static std::string_view character_at(std::string_view text, std::size_t offset) {
  const FirstCharacter found = first_character(text.substr(offset));
  expect(found.state == Utf8::whole,
         "chars: byte 0x{:02X} at offset {} is not UTF-8; the byte tokenizer takes any bytes",
         static_cast<unsigned char>(text[offset]), offset);
  return text.substr(offset, found.length);
}

CharTokenizer::CharTokenizer(std::vector<std::string> vocabulary) : vocabulary_(std::move(vocabulary)) {
  expect(!vocabulary_.empty(), "chars: the vocabulary must have at least one character; is the training text empty?");
  for (std::size_t id = 0; id < vocabulary_.size(); ++id) {
    const std::string& entry = vocabulary_[id];
    expect(!entry.empty() && character_at(entry, 0) == entry,
           "chars: entry {} of the vocabulary, \"{}\", must be one character", id, entry);
    expect(id == 0 || vocabulary_[id - 1] < entry,
           "chars: entry {} of the vocabulary, \"{}\", must come after \"{}\" in the order of code points", id, entry,
           id == 0 ? entry : vocabulary_[id - 1]);
  }
}

CharTokenizer CharTokenizer::of_text(std::string_view text) {
  std::set<std::string_view> characters;
  for (std::size_t offset = 0; offset < text.size();)
    offset += characters.insert(character_at(text, offset)).first->size();
  return CharTokenizer(std::vector<std::string>(characters.begin(), characters.end()));
}

std::vector<int> CharTokenizer::encode(std::string_view text, Specials) const {
  std::vector<int> ids;
  ids.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const std::string_view character = character_at(text, offset);
    const auto place = std::lower_bound(vocabulary_.begin(), vocabulary_.end(), character);
    if (place == vocabulary_.end() || *place != character)
      throw ShapeError(message("chars: {} (U+{:04X}) at byte {} is not one of the vocabulary's {} characters; "
                               "train on a text that has it, or use the byte tokenizer",
                               json_string(character), static_cast<unsigned>(first_character(character).code), offset,
                               vocabulary_.size()));
    ids.push_back(static_cast<int>(place - vocabulary_.begin()));
    offset += character.size();
  }
  return ids;
}

std::string CharTokenizer::decode(std::span<const int> ids) const {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    expect(ids[i] >= 0 && static_cast<std::size_t>(ids[i]) < vocabulary_.size(),
           "chars: id {} at position {} must be below the vocabulary's {} characters", ids[i], i, vocabulary_.size());
    text += vocabulary_[ids[i]];
  }
  return text;
}

std::string CharTokenizer::to_json() const {
  std::string list;
  for (const std::string& character : vocabulary_) list += (list.empty() ? "" : ", ") + json_string(character);
  return "{\"type\": \"chars\", \"vocabulary\": [" + list + "]}\n";
}

}  // namespace gradus::nn
