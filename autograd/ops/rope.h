// Rotary position embedding. Su et al., "RoFormer" (2021), equation 34.
//
// A head of D numbers is D/2 points in the plane; at position t, point i is turned by the angle t · θ^(−2i/D). The
// product of two turned vectors depends on the distance of their positions only.
#pragma once

#include <span>

#include "autograd/ops/rope_pairing.h"
#include "autograd/ops/yarn.h"
#include "autograd/tensor.h"

namespace gradus {

// Cosine and sine of every angle, computed in double.  Each (positions, D/2).
struct RopeTable {
  Tensor cosine;
  Tensor sine;
};

// With a scaling, `context` is the most positions that the model may have, whatever the table's; 0: the table's.
// Errors: those of rope_speeds.
RopeTable rope_table(std::size_t positions, std::size_t head_dim, double theta, const RopeScaling& scaling = {},
                     std::size_t context = 0);

// x (B, T, H · D) → the same; the token at (b, t) stands at positions[b · T + t], or at `position + t` in every row.
// Errors: the last axis is not a multiple of D; a position past the table, naming both numbers.
Tensor rope(const Tensor& x, const RopeTable& table, RopePairing pairing, std::size_t position = 0);
Tensor rope(const Tensor& x, const RopeTable& table, RopePairing pairing, std::span<const int> positions);

}  // namespace gradus
