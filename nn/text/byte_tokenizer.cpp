#include "nn/text/byte_tokenizer.h"

#include "autograd/error.h"

namespace gradus::nn {

std::vector<int> ByteTokenizer::encode(std::string_view text, Specials) const {
  std::vector<int> ids(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) ids[i] = static_cast<unsigned char>(text[i]);
  return ids;
}

std::string ByteTokenizer::decode(std::span<const int> ids) const {
  std::string text(ids.size(), '\0');
  for (std::size_t i = 0; i < ids.size(); ++i) {
    expect(ids[i] >= 0 && ids[i] < 256, "bytes: id {} at position {} must be a byte, 0 to 255", ids[i], i);
    text[i] = static_cast<char>(ids[i]);
  }
  return text;
}

std::string ByteTokenizer::to_json() const { return "{\"type\": \"bytes\"}\n"; }

}  // namespace gradus::nn
