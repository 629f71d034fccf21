// Which two numbers of a head are a point that rope turns, and how weights go from one choice to the other.
#pragma once

#include "autograd/tensor.h"

namespace gradus {

// The same function up to an order of the numbers, and not interchangeable.
enum class RopePairing {
  adjacent,  // 2i and 2i + 1: the paper, LLaMA's own weights, llama2.c
  half,      // i and i + D/2: Hugging Face's weights
};

// The weight (n_heads · D, in) or the bias (n_heads · D) of a query or key projection made for one pairing, with its
// rows in the order of the other: queries and keys come out with each head's numbers reordered alike, so their
// products, and with them the model, stay. A key has n_kv_heads. Values are not turned and keep their order.
// A new tensor, not recorded. Errors: the rows are not n_heads heads of an even number of rows.
Tensor to_pairing(RopePairing target, const Tensor& weight, std::size_t n_heads);

}  // namespace gradus
