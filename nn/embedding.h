// A vector for every token of the vocabulary.
#pragma once

#include <span>

#include "autograd/ops/embedding.h"
#include "nn/module.h"

namespace gradus::nn {

struct Embedding {
  Tensor weight;  // (vocab_size, width)

  Embedding(std::size_t vocab_size, std::size_t width) : weight(parameter({vocab_size, width})) {}

  // N ids → (N, width)
  Tensor operator()(std::span<const int> ids) const { return embedding(weight, ids); }

  static void fields(auto& self, auto&& visit) { visit("weight", self.weight); }
};

}  // namespace gradus::nn
