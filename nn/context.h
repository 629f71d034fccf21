// What a call of a model depends on besides its weights and its input. There is no hidden training mode.
#pragma once

#include <cstddef>
#include <span>

#include "autograd/ops/dropout.h"
#include "autograd/random.h"

namespace gradus::nn {

struct Context {
  Rng* dropout = nullptr;           // null: evaluation, dropout is the identity
  std::size_t position = 0;         // of the first column
  std::span<const int> valid = {};  // (B, T): 1 = token, 0 = padding; empty: all tokens
};

// Dropout with probability p, where the context asks for it.
inline Tensor maybe_dropout(const Tensor& x, double p, const Context& context) {
  return context.dropout != nullptr ? dropout(x, p, *context.dropout) : x;
}

}  // namespace gradus::nn
