// What a call of a model depends on besides its weights and its input. There is no hidden training mode.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "autograd/ops/dropout.h"
#include "autograd/random.h"

namespace gradus::nn {

class KVCache;

struct Context {
  Rng* dropout = nullptr;           // null: evaluation, dropout is the identity
  KVCache* cache = nullptr;         // the tokens before those of this call, and where these go; null: there are none
  std::size_t position = 0;         // of the first token of each row; with a cache 0, because it knows
  std::span<const int> valid = {};  // (B, T), the tokens of this call: 1 = token, 0 = padding; empty: all tokens
};

// Dropout with probability p, where the context asks for it.
inline Tensor maybe_dropout(const Tensor& x, double p, const Context& context) {
  return context.dropout != nullptr ? dropout(x, p, *context.dropout) : x;
}

// Where the tokens of a call stand. Positions count tokens, not columns: padding before or between them does not move
// them. Padding itself takes the position of its column behind the token before it, which nobody reads.
struct TokenPlaces {
  std::vector<int> position;        // (B, T)
  std::vector<int> visible;         // (B, T): the row's tokens up to this place: the keys it sees in a cache
  std::vector<std::size_t> length;  // (B): the row's tokens after the call
};

// Errors: valid is not one 0 or 1 for each token; the cache has another batch; a cache and a position.
TokenPlaces token_places(const Context& context, std::size_t batch, std::size_t time);

// The column of each row's last token, from a mask (B, T): whose logits a generator wants. With padding on the left or
// between tokens, the number of tokens less one is another column.
// Errors: valid is not whole rows; a row without a token.
std::vector<std::size_t> last_tokens(std::span<const int> valid, std::size_t batch);

}  // namespace gradus::nn
