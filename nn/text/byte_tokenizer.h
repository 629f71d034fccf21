// Every byte is a token: 256 ids, any text and any data, nothing to learn.
#pragma once

#include "nn/text/tokenizer.h"

namespace gradus::nn {

class ByteTokenizer : public Tokenizer {
 public:
  std::vector<int> encode(std::string_view text, Specials specials = Specials::as_text) const override;
  std::string decode(std::span<const int> ids) const override;
  std::size_t vocab_size() const override { return 256; }
  std::string name() const override { return "bytes"; }
  std::string to_json() const override;  // {"type": "bytes"}
};

}  // namespace gradus::nn
