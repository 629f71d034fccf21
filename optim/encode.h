// A corpus as tokens.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "nn/text/tokenizer.h"
#include "optim/corpus.h"

namespace gradus::optim {

// The documents as tokens, a piece at a time: each(ids, ends), where `ends` says that the document is at its end. First stands
// the tokenizer's begin token and last its end token, where it has them, so that a model learns where texts end. A text that
// spells a special token is text.
// Errors (FileError): those of for_each_piece; a character that the tokenizer does not know.
void encode_documents(const Corpus& corpus, const nn::Tokenizer& tokenizer,
                      const std::function<void(std::span<const int> ids, bool ends)>& each);

// The documents as one stream. Where one token both begins and ends a text, there is one between two documents, not two.
void encode(const Corpus& corpus, const nn::Tokenizer& tokenizer, const std::function<void(std::span<const int>)>& each);
std::vector<int> encode(const Corpus& corpus, const nn::Tokenizer& tokenizer);

}  // namespace gradus::optim
