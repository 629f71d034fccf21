// Rotary position embedding. Su et al., "RoFormer" (2021), equation 34.
//
// A head of D numbers is D/2 points in the plane; at position t, point i is turned by the angle t · θ^(−2i/D). The
// product of two turned vectors depends on the distance of their positions only.
#pragma once

#include <span>

#include "autograd/tensor.h"

namespace gradus {

// Which two numbers are a point. The same function up to an order of the numbers, and not interchangeable.
enum class RopePairing {
  adjacent,  // 2i and 2i + 1: the paper, LLaMA's own weights, llama2.c
  half,      // i and i + D/2: Hugging Face's weights
};

// Cosine and sine of every angle, computed in double.  Each (positions, D/2).
struct RopeTable {
  Tensor cosine;
  Tensor sine;
};

// Errors: head_dim is odd or 0; theta is not above 0.
RopeTable rope_table(std::size_t positions, std::size_t head_dim, double theta);

// x (B, T, H · D) → the same; the token at (b, t) stands at positions[b · T + t], or at `position + t` in every row.
// Errors: the last axis is not a multiple of D; a position past the table, naming both numbers.
Tensor rope(const Tensor& x, const RopeTable& table, RopePairing pairing, std::size_t position = 0);
Tensor rope(const Tensor& x, const RopeTable& table, RopePairing pairing, std::span<const int> positions);

}  // namespace gradus
