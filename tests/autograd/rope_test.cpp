#include "autograd/ops/rope.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "autograd/error.h"
#include "autograd/gradcheck.h"

using namespace gradus;

static double dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a.values()[i]) * static_cast<double>(b.values()[i]);
  return sum;
}

// The two pairings are mistaken for each other everywhere; these are the numbers of both.
TEST_CASE("rope turns adjacent numbers, or a head's two halves, by the angles of the position") {
  const Tensor x({1, 1, 4}, {1, 2, 3, 4});
  const RopeTable table = rope_table(2, 4, 10000);
  const Tensor adjacent = rope(x, table, RopePairing::adjacent, 1), half = rope(x, table, RopePairing::half, 1);
  const double expected_adjacent[] = {-1.142640, 1.922076, 2.959851, 4.029800};
  const double expected_half[] = {-1.984111, 1.959901, 2.462378, 4.019800};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(adjacent.values()[i] == doctest::Approx(expected_adjacent[i]).epsilon(1e-6));
    CHECK(half.values()[i] == doctest::Approx(expected_half[i]).epsilon(1e-6));
  }
}

TEST_CASE("rope at position 0 is the identity, and everywhere it keeps the length of a vector") {
  Rng rng(2);
  const RopeTable table = rope_table(1000, 8, 10000);
  const Tensor x = random_uniform({2, 1, 16}, rng);
  for (RopePairing pairing : {RopePairing::adjacent, RopePairing::half}) {
    const Tensor y = rope(x, table, pairing);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(y.values()[i] == x.values()[i]);
    const Tensor far = rope(x, table, pairing, 999);
    CHECK(dot(far, far) == doctest::Approx(dot(x, x)).epsilon(1e-6));
  }
}

TEST_CASE("the product of two turned vectors depends on the distance of their positions only") {
  Rng rng(3);
  const RopeTable table = rope_table(106, 8, 10000);
  const Tensor q = random_uniform({1, 1, 8}, rng), k = random_uniform({1, 1, 8}, rng);
  for (RopePairing pairing : {RopePairing::adjacent, RopePairing::half}) {
    const double near = dot(rope(q, table, pairing, 5), rope(k, table, pairing, 3));
    const double far = dot(rope(q, table, pairing, 105), rope(k, table, pairing, 103));
    CHECK(std::abs(near - far) < 1e-5);
    CHECK(std::abs(near - dot(rope(q, table, pairing, 5), rope(k, table, pairing, 4))) > 1e-3);
  }
}

TEST_CASE("positions given one by one are the same as an offset where they count up, and free elsewhere") {
  Rng rng(4);
  const RopeTable table = rope_table(10, 4, 100);
  const Tensor x = random_uniform({2, 3, 8}, rng);
  const std::vector<int> counting{4, 5, 6, 4, 5, 6}, padded{0, 0, 1, 0, 1, 2};
  const Tensor a = rope(x, table, RopePairing::half, 4), b = rope(x, table, RopePairing::half, counting);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(a.values()[i] == b.values()[i]);
  const Tensor c = rope(x, table, RopePairing::half, padded), d = rope(x, table, RopePairing::half);
  for (std::size_t i = 0; i < 16; ++i) CHECK(c.values()[i] == (i < 8 ? d.values()[i] : x.values()[i]));
  for (std::size_t i = 16; i < 24; ++i) CHECK(c.values()[i] != d.values()[i]);
  for (std::size_t i = 24; i < 48; ++i) CHECK(c.values()[i] == d.values()[i]);
}

TEST_CASE("rope's backward turns a gradient back: rope followed by its backward is the identity") {
  Rng rng(5);
  const RopeTable table = rope_table(40, 6, 100);
  const Tensor cotangent = random_uniform({1, 30, 12}, rng);
  for (RopePairing pairing : {RopePairing::adjacent, RopePairing::half}) {
    Tensor x = random_uniform({1, 30, 12}, rng).set_requires_grad();
    rope(x, table, pairing, 10).backward(cotangent);
    const Tensor again = rope(Tensor({1, 30, 12}, x.grad()), table, pairing, 10);
    for (std::size_t i = 0; i < x.size(); ++i)
      CHECK(again.values()[i] == doctest::Approx(cotangent.values()[i]).epsilon(1e-5));
  }
}

TEST_CASE("rope_table keeps far positions exact") {
  const RopeTable table = rope_table(100001, 2, 10000);
  CHECK(table.cosine.shape() == Shape{100001, 1});
  CHECK(table.sine.values()[100000] == doctest::Approx(0.0357488).epsilon(1e-6));
}

TEST_CASE("rope refuses an odd head, a bad theta, a width of no whole heads and positions it cannot know") {
  CHECK_THROWS_WITH_AS(rope_table(4, 5, 10000),
                       "rope: head_dim must be even and above 0, not 5; its numbers are turned in pairs", ShapeError);
  CHECK_THROWS_AS(rope_table(4, 0, 10000), ShapeError);
  CHECK_THROWS_WITH_AS(rope_table(4, 4, 0), "rope: theta must be above 0, not 0", ShapeError);
  const RopeTable table = rope_table(8, 4, 10000);
  CHECK_THROWS_WITH_AS(rope(Tensor({1, 2, 6}), table, RopePairing::half),
                       "rope: the last axis of x (1, 2, 6) must be a whole number of heads of 4 numbers, as the table "
                       "has them",
                       ShapeError);
  CHECK_THROWS_WITH_AS(rope(Tensor({2, 4}), table, RopePairing::half),
                       "rope: x (2, 4) must have three axes, (B, T, H · D)", ShapeError);
  CHECK_THROWS_WITH_AS(rope(Tensor({1, 2, 4}), table, RopePairing::half, 7),
                       "rope: position 8 is past the table, which has 8 positions; make a longer one", ShapeError);
  CHECK_THROWS_WITH_AS(rope(Tensor({1, 2, 4}), table, RopePairing::half, std::vector<int>{1}),
                       "rope: 1 positions for x (1, 2, 4), which has 2 tokens; give one each", ShapeError);
  CHECK_THROWS_WITH_AS(rope(Tensor({1, 2, 4}), table, RopePairing::half, std::vector<int>{1, -1}),
                       "rope: position -1 is negative", ShapeError);
}
