// The parts of fused attention: blocks of query rows, and what is done with the rows of scores of one.
#pragma once

#include <algorithm>
#include <limits>

#include "autograd/ops/attention_shapes.h"
#include "autograd/parallel.h"
#include "autograd/random.h"

namespace gradus {

// Fewer rows compute fewer scores above the causal diagonal, more rows make larger products: 16 to 64 were measured.
inline constexpr std::size_t block_rows = 32;

// Some query rows of one head, and the most keys that one of them may see.
struct AttentionBlock {
  std::size_t piece;           // of the parallel loop: which scratch memory is free
  std::size_t b, first, rows;  // sequence, first row and number of rows
  std::size_t keys;
  std::size_t query_at;  // offsets of the first row of this head in (B, T, H·D),
  std::size_t key_at;    // of its first key in (B, S, G·D),
  std::size_t row_at;    // and of its first row in (B, H, T)
};

// Calls body(block) for every block. `products` is the number of matrix products that the body takes.
template <class Body>
void for_each_block(const AttentionShapes& e, std::size_t products, const Body& body) {
  const std::size_t work = products * e.group * e.T * e.reach * e.D;
  parallel_pieces(e.B * e.G, work, [&](std::size_t piece, std::size_t begin, std::size_t end) {
    for (std::size_t pair = begin; pair < end; ++pair) {
      const std::size_t b = pair / e.G, g = pair % e.G;
      for (std::size_t h = g * e.group; h < (g + 1) * e.group; ++h)
        for (std::size_t first = 0; first < e.T; first += block_rows) {
          const std::size_t rows = std::min(block_rows, e.T - first);
          std::size_t keys = 0;
          for (std::size_t t = first; t < first + rows; ++t) keys = std::max(keys, e.visible(b, t));
          body(AttentionBlock{.piece = piece, .b = b, .first = first, .rows = rows, .keys = keys,
                              .query_at = ((b * e.T + first) * e.H + h) * e.D,
                              .key_at = (b * e.S * e.G + g) * e.D,
                              .row_at = (b * e.H + h) * e.T + first});
        }
    }
  });
}

// scores = Q·Kᵀ / √D + bias, and −∞ at padding.  (rows, keys), `reach` numbers from row to row; bias may be null
void block_scores(const AttentionShapes& e, const AttentionBlock& block, const Real* Q, const Real* K, const Real* bias,
                  Real* scores);

// A scalar tail of exponentials would cost as much as the row, so loops over one go on to the end of a vector.
inline std::size_t whole_vectors(std::size_t visible, std::size_t keys) {
  constexpr std::size_t widest = 16;
  return std::min(keys, (visible + widest - 1) / widest * widest);
}

// What makes a row's weights of its scores again, p = exp(score − shift) · inverse. Kept apart: as one logarithm in
// float, a large shift would leave the inverse few digits.
struct SoftmaxRow {
  Real shift;    // the largest score
  Real inverse;  // 1 / Σ exp(score − shift), or 0
};

// Turns the first `visible` scores into their softmax; the other keys' weights are 0. A row of only −∞ becomes zeros.
SoftmaxRow softmax_row(Real* p, std::size_t visible, std::size_t keys);

// Weight (b, h, t, s) falls or stays by the draw of its place in (B, H, T, S).
struct AttentionDropout {
  double p;
  RandomRange draws;
};

// What dropout multiplies the first `count` weights of row `row_at` of (B, H, T) by: 0 where one falls, 1 / (1 − p)
// where it stays.
void dropout_factors(const AttentionDropout& dropout, std::size_t row_at, std::size_t S, std::size_t count,
                     Real* factors);

}  // namespace gradus
