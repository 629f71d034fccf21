#include "autograd/ops/rope_pairing.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/attention.h"
#include "autograd/ops/linear.h"
#include "autograd/ops/rope.h"

using namespace gradus;

TEST_CASE("the rows of each head go to the halves, evens first, and come back") {
  const Tensor adjacent({8}, {0, 1, 2, 3, 10, 11, 12, 13});
  const Tensor half = to_pairing(RopePairing::half, adjacent, 2);
  const std::vector<Real> expected{0, 2, 1, 3, 10, 12, 11, 13};
  for (std::size_t i = 0; i < 8; ++i) CHECK(half.values()[i] == expected[i]);

  Rng rng(1);
  const Tensor weight = random_uniform({12, 5}, rng);
  const Tensor again = to_pairing(RopePairing::adjacent, to_pairing(RopePairing::half, weight, 2), 2);
  for (std::size_t i = 0; i < weight.size(); ++i) CHECK(again.values()[i] == weight.values()[i]);
}

// Weights that go from one program to another without it read well for a few tokens, and are gibberish after twenty.
TEST_CASE("half pairing of reordered weights is adjacent pairing of the originals, in every head") {
  constexpr std::size_t C = 10, D = 6, T = 40;
  for (const std::size_t G : {4, 2, 1}) {
    Rng rng(G);
    constexpr std::size_t H = 4;
    const RopeTable table = rope_table(T, D, 100);
    const Tensor x = random_uniform({2, T, C}, rng), value = random_uniform({2, T, G * D}, rng);
    const Tensor query = random_uniform({H * D, C}, rng), key = random_uniform({G * D, C}, rng);
    const Tensor query_bias = random_uniform({H * D}, rng);
    const auto attended = [&](RopePairing pairing, const Tensor& q, const Tensor& q_bias, const Tensor& k) {
      return attention(rope(linear(x, q, q_bias), table, pairing), rope(linear(x, k), table, pairing), value, {H, G});
    };
    const auto to_half = [](const Tensor& w, std::size_t heads) { return to_pairing(RopePairing::half, w, heads); };
    const Tensor original = attended(RopePairing::adjacent, query, query_bias, key);
    const Tensor reordered =
        attended(RopePairing::half, to_half(query, H), to_half(query_bias, H), to_half(key, G));
    const Tensor forgotten = attended(RopePairing::half, query, query_bias, key);
    double forgotten_difference = 0;
    for (std::size_t i = 0; i < original.size(); ++i) {
      CHECK(reordered.values()[i] == doctest::Approx(original.values()[i]).epsilon(1e-5));
      forgotten_difference += std::abs(static_cast<double>(forgotten.values()[i] - original.values()[i]));
    }
    CHECK(forgotten_difference > 1);
  }
}

TEST_CASE("to_pairing refuses rows that are not so many heads of pairs") {
  CHECK_THROWS_WITH_AS(to_pairing(RopePairing::half, Tensor({12, 3}), 4),
                       "to_pairing: the rows of (12, 3) must be 4 heads of an even number of rows; for a key that is "
                       "n_kv_heads",
                       ShapeError);
  CHECK_THROWS_AS(to_pairing(RopePairing::half, Tensor({12, 3}), 0), ShapeError);
}
