#include "optim/encode.h"

#include <algorithm>

#include "autograd/error.h"

namespace gradus::optim {

// The ids of a piece that stands behind others. Some tokenizers put a begin token or a space before whatever they encode; with
// the line break before the piece that is known to be there, and is taken away again.
static std::vector<int> encode_rest(std::string_view text, const nn::Tokenizer& tokenizer) {
  const std::vector<int> before = tokenizer.encode("\n");
  if (before.size() == 1) return tokenizer.encode(text);
  std::vector<int> ids = tokenizer.encode(std::string("\n").append(text));
  expect(std::ranges::equal(before, std::span(ids).first(std::min(before.size(), ids.size()))),
         "corpus: the tokenizer {} joins lines, so that a large document cannot be encoded piece by piece; split it with a "
         "separator", tokenizer.name());
  ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(before.size()));
  return ids;
}

void encode_documents(const Corpus& corpus, const nn::Tokenizer& tokenizer,
                      const std::function<void(std::span<const int>, bool)>& each) {
  for_each_piece(corpus, [&](const Piece& piece) {
    std::vector<int> ids = piece.begins ? tokenizer.encode(piece.text) : encode_rest(piece.text, tokenizer);
    if (const std::optional<int> end = tokenizer.end_token(); piece.ends && end) ids.push_back(*end);
    each(ids, piece.ends);
  });
}

void encode(const Corpus& corpus, const nn::Tokenizer& tokenizer, const std::function<void(std::span<const int>)>& each) {
  const bool one_for_both = tokenizer.begin_token() && tokenizer.begin_token() == tokenizer.end_token();
  bool begun = false;  // by the token that ended the document before
  encode_documents(corpus, tokenizer, [&](std::span<const int> ids, bool ends) {
    each(begun ? ids.subspan(1) : ids);
    begun = ends && one_for_both;
  });
}

std::vector<int> encode(const Corpus& corpus, const nn::Tokenizer& tokenizer) {
  std::vector<int> ids;
  encode(corpus, tokenizer, [&](std::span<const int> piece) { ids.insert(ids.end(), piece.begin(), piece.end()); });
  return ids;
}

}  // namespace gradus::optim
