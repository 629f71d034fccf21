// Every character of a training text is a token: ids in the order of the code points. A small alphabet makes a small
// softmax, and a model that has seen only these characters is never asked for others.
#pragma once

#include "nn/text/tokenizer.h"

namespace gradus::nn {

class CharTokenizer : public Tokenizer {
 public:
  // The vocabulary: one character (in UTF-8) each, ascending.
  // Errors: it is empty, an entry is not one character, or they do not ascend.
  explicit CharTokenizer(std::vector<std::string> vocabulary);
  // Errors: the text is empty or not UTF-8.
  static CharTokenizer of_text(std::string_view text);

  // Errors: broken UTF-8 or a character outside the vocabulary, with its byte offset.
  std::vector<int> encode(std::string_view text, Specials specials = Specials::as_text) const override;
  std::string decode(std::span<const int> ids) const override;
  std::size_t vocab_size() const override { return vocabulary_.size(); }
  std::string name() const override { return "chars"; }
  const std::vector<std::string>& vocabulary() const { return vocabulary_; }
  std::string to_json() const override;  // {"type": "chars", "vocabulary": ["\n", " ", …]}

 private:
  std::vector<std::string> vocabulary_;  // UTF-8 sorts by its bytes as it does by its code points
};

}  // namespace gradus::nn
