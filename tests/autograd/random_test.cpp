#include "autograd/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "autograd/error.h"

using namespace gradus;

TEST_CASE("Philox gives the known answers of its authors") {
  using Four = std::array<std::uint32_t, 4>;
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({ones, ones, ones, ones}, {ones, ones}) == Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE(
    "A generator's bits are Philox of its counter, with the seed as key and the stream as the counter's other half") {
  Rng rng(0x1122334455667788, 0x99);
  for (std::uint32_t block = 0; block < 3; ++block)
    for (std::uint32_t expected : philox({block, 0, 0x99, 0}, {0x55667788, 0x11223344})) CHECK(rng.bits() == expected);
}

TEST_CASE("A generator made from a state goes on where the other stood") {
  for (int drawn = 0; drawn < 9; ++drawn) {
    Rng rng(7, 3);
    for (int i = 0; i < drawn; ++i) rng.bits();
    Rng copy(rng.state());
    CHECK(copy.state() == rng.state());
    for (int i = 0; i < 9; ++i) CHECK(copy.bits() == rng.bits());
    CHECK(copy.state() == rng.state());
  }
}

TEST_CASE("A damaged state is refused") {
  CHECK_THROWS_WITH_AS(Rng(Rng::State{1, 0, 2, 5}),
                       "random: a state with 5 of 4 numbers used and 2 blocks begun is damaged", ShapeError);
  CHECK_THROWS_WITH_AS(Rng(Rng::State{1, 0, 0, 2}),
                       "random: a state with 2 of 4 numbers used and 0 blocks begun is damaged", ShapeError);
}

TEST_CASE("Seeds and streams give different numbers") {
  CHECK(Rng(0).bits() != Rng(1).bits());
  CHECK(Rng(0, 0).bits() != Rng(0, 1).bits());
  CHECK(Rng(std::uint64_t{1} << 32).bits() != Rng(1).bits());
}

TEST_CASE("Numbers of a reserved range depend on the item alone, and the generator goes on behind them") {
  Rng rng(11);
  rng.bits();
  const RandomRange range = rng.reserve(10);
  const double behind = rng.uniform();
  std::vector<double> forward, backward;
  for (std::uint64_t i = 0; i < 10; ++i) forward.push_back(range.uniform(i));
  for (std::uint64_t i = 10; i-- > 0;) backward.push_back(range.uniform(i));
  std::ranges::reverse(backward);
  CHECK(forward == backward);

  Rng same(11);
  for (int i = 0; i < 4; ++i) same.bits();
  for (double expected : forward) CHECK(same.uniform() == expected);
  same.bits();
  same.bits();
  CHECK(same.uniform() == behind);
}

TEST_CASE("uniform lies in [0, 1) with mean 1/2 and variance 1/12") {
  Rng rng(13);
  constexpr int count = 200000;
  double sum = 0, squares = 0;
  bool inside = true;
  for (int i = 0; i < count; ++i) {
    const double x = rng.uniform();
    inside = inside && x >= 0 && x < 1;
    sum += x;
    squares += (x - 0.5) * (x - 0.5);
  }
  CHECK(inside);
  CHECK(std::abs(sum / count - 0.5) < 5 * std::sqrt(1.0 / 12 / count));
  CHECK(squares / count == doctest::Approx(1.0 / 12).epsilon(0.01));
}

TEST_CASE("normal has the moments and the quantiles of the standard normal distribution") {
  Rng rng(17);
  constexpr std::size_t count = 200000;
  std::vector<double> draws(count);
  for (double& draw : draws) draw = rng.normal();
  std::array<double, 5> moment{};
  for (double x : draws)
    for (std::size_t power = 1; power <= 4; ++power)
      moment[power] += std::pow(x, static_cast<double>(power)) / static_cast<double>(count);
  CHECK(std::abs(moment[1]) < 0.012);
  CHECK(std::abs(moment[2] - 1) < 0.017);
  CHECK(std::abs(moment[3]) < 0.05);
  CHECK(std::abs(moment[4] - 3) < 0.12);

  std::ranges::sort(draws);
  const auto quantile = [&](double share) { return draws[static_cast<std::size_t>(share * count)]; };
  CHECK(std::abs(quantile(0.5)) < 0.015);
  CHECK(std::abs(quantile(0.841344746) - 1) < 0.02);
  CHECK(std::abs(quantile(0.158655254) + 1) < 0.02);
  CHECK(std::abs(quantile(0.977249868) - 2) < 0.04);
  CHECK(std::abs(quantile(0.998650102) - 3) < 0.15);
}

TEST_CASE("normal is Box and Muller's formula") {
  Rng rng(19), same(19);
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = same.uniform(), v = same.uniform();
    worst = std::max(worst, std::abs(rng.normal() -
                                     std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * v)));
  }
  CHECK(worst < 1e-14);
}

TEST_CASE("below is fair, and every bound has its numbers") {
  Rng rng(23);
  std::array<int, 7> seen{};
  for (int i = 0; i < 70000; ++i) ++seen[rng.below(7)];
  double chi_squared = 0;
  for (int count : seen) chi_squared += (count - 10000.0) * (count - 10000.0) / 10000;
  CHECK(chi_squared < 22.5);  // one fair die in a thousand

  // Two thirds of 2⁶⁴: a remainder alone would give the lower half twice as often.
  const std::uint64_t bound = 0xaaaaaaaaaaaaaaaa;
  int low = 0;
  for (int i = 0; i < 10000; ++i) low += rng.below(bound) < bound / 2 ? 1 : 0;
  CHECK(std::abs(low - 5000) < 250);
  for (int i = 0; i < 10; ++i) CHECK(rng.below(1) == 0);
  CHECK_THROWS_WITH_AS(rng.below(0), "random: there is no number below 0", ShapeError);
}

// FNV-1a over the bytes, lowest first.
static std::uint64_t checksum(std::uint64_t hash, std::uint64_t bits) {
  for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (bits >> 8 * byte & 0xff)) * 0x100000001b3;
  return hash;
}

// Standard libraries differ in their normal distribution; a seed must mean the same model everywhere.
TEST_CASE("The first thousand normal numbers of seed 1337 are the same bits under every compiler and library") {
  Rng rng(1337);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < 1000; ++i) hash = checksum(hash, std::bit_cast<std::uint64_t>(rng.normal()));
  CHECK(hash == 964729175300722375);
}
