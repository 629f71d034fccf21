#include "autograd/ops/yarn.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "autograd/error.h"
#include "autograd/ops/rope.h"

using namespace gradus;

static RopeScaling yarn(double factor, std::size_t original_context) {
  return {.kind = RopeScalingKind::yarn, .factor = factor, .original_context = original_context};
}

TEST_CASE("without a scaling the speeds are powers of theta") {
  const std::vector<double> speeds = rope_speeds(6, 1000, {}, 1000000);
  const double expected[] = {1, 0.1, 0.01};
  for (std::size_t i = 0; i < 3; ++i) CHECK(speeds[i] == doctest::Approx(expected[i]).epsilon(1e-14));
}

TEST_CASE("linear scaling slows every point down by the factor, at any context") {
  const RopeScaling scaling{.kind = RopeScalingKind::linear, .factor = 4};
  const std::vector<double> plain = rope_speeds(16, 10000, {}, 64), slowed = rope_speeds(16, 10000, scaling, 64);
  for (std::size_t i = 0; i < 8; ++i) CHECK(slowed[i] == doctest::Approx(plain[i] / 4).epsilon(1e-15));
}

// The settings of Llama 3.1, and the rule as its authors write it, which sorts points by their wavelength.
TEST_CASE("llama3 leaves points of many turns alone, slows those of few by the factor, and blends by turns between") {
  const RopeScaling scaling{.kind = RopeScalingKind::llama3, .factor = 8, .original_context = 8192, .beta_fast = 4,
                            .beta_slow = 1, .attention_factor = 3};
  const std::vector<double> plain = rope_speeds(128, 500000, {}, 131072), slowed = rope_speeds(128, 500000, scaling, 64);
  int left_alone = 0, blended = 0, slow = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    const double wavelength = 2 * std::numbers::pi / plain[i], smooth = (8192 / wavelength - 1) / (4 - 1);
    const bool is_slow = wavelength > 8192, is_fast = wavelength < 8192.0 / 4;
    const double expected = is_fast ? plain[i] : is_slow ? plain[i] / 8 : (1 - smooth) * plain[i] / 8 + smooth * plain[i];
    ++(is_fast ? left_alone : is_slow ? slow : blended);
    CHECK(slowed[i] == doctest::Approx(expected).epsilon(1e-13));
  }
  CHECK(left_alone == 29);
  CHECK(blended == 6);
  CHECK(slow == 29);
  const RopeTable table = rope_table(3, 128, 500000, scaling);
  CHECK(table.cosine.values()[0] == 1);  // the attention factor is YaRN's
}

TEST_CASE("each kind of scaling checks the numbers that it reads, and no others") {
  const auto refused = [](const RopeScaling& scaling, const char* what) {
    CHECK_THROWS_WITH_AS(scaling.validate(), what, ShapeError);
  };
  CHECK_NOTHROW(RopeScaling{.kind = RopeScalingKind::linear, .factor = 2, .beta_fast = -1}.validate());
  refused({.kind = RopeScalingKind::linear, .factor = 0}, "linear: factor must be above 0, not 0");
  refused({.kind = RopeScalingKind::llama3, .factor = 8},
          "llama3: original_context must be 1 or more, not 0; it is the context of the training");
  refused({.kind = RopeScalingKind::llama3, .factor = 8, .original_context = 64, .beta_fast = 1},
          "llama3: beta_fast and beta_slow are both 1; the ramp between them needs a length");
}

// Numbers of MiniMind's own table.
TEST_CASE("yarn leaves fast points alone, slows the slow ones by the factor, and has a ramp between") {
  RopeScaling scaling = yarn(4, 32);
  scaling.beta_fast = 8;
  const std::vector<double> speeds = rope_speeds(16, 10000, scaling, 128);
  const double expected[] = {1.0, 0.19764235376052372, 0.025, 0.007905694150420948};
  for (std::size_t i = 0; i < 4; ++i) CHECK(speeds[i] == doctest::Approx(expected[i]).epsilon(1e-14));

  const std::vector<double> plain = rope_speeds(64, 1e6, {}, 0), scaled = rope_speeds(64, 1e6, yarn(16, 2048), 32768);
  CHECK(scaled.front() == plain.front());
  CHECK(scaled.back() == doctest::Approx(plain.back() / 16).epsilon(1e-14));
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK(scaled[i] <= plain[i]);
    CHECK(scaled[i] >= plain[i] / 16 * (1 - 1e-14));
  }
  const RopeTable table = rope_table(32768, 64, 1e6, yarn(16, 2048));
  const double last_row[] = {0.9822633517692823, -0.9608121243822821, 0.5362255051219664, 0.830385606820015};
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(table.cosine.values()[32767 * 32 + i] ==
          doctest::Approx(last_row[i]).epsilon(sizeof(Real) == 8 ? 1e-10 : 1e-6));
}

TEST_CASE("yarn's ramp stays inside the head where the training's context is very short or very long") {
  RopeScaling short_context = yarn(4, 4);
  short_context.beta_slow = 2;
  const std::vector<double> slowed = rope_speeds(8, 10000, short_context, 64);
  const double all_but_the_first[] = {1, 0.025, 0.0025, 0.00025};
  for (std::size_t i = 0; i < 4; ++i) CHECK(slowed[i] == doctest::Approx(all_but_the_first[i]).epsilon(1e-14));
  CHECK(rope_speeds(8, 100, yarn(4, 2048), 4096)[3] == doctest::Approx(0.007905694150420948).epsilon(1e-14));
  CHECK(rope_speeds(8, 50, yarn(2, 8192), 16384) == rope_speeds(8, 50, {}, 16384));
}

TEST_CASE("a model of no more than its training's context is not slowed down, but has the attention factor") {
  RopeScaling scaling = yarn(4, 64);
  CHECK(rope_speeds(8, 10000, scaling, 64) == rope_speeds(8, 10000, {}, 64));
  CHECK(rope_speeds(8, 10000, scaling, 65) != rope_speeds(8, 10000, {}, 65));
  scaling.attention_factor = 1.2;
  const RopeTable plain = rope_table(64, 8, 10000), scaled = rope_table(64, 8, 10000, scaling);
  for (std::size_t i = 0; i < plain.cosine.size(); ++i) {
    CHECK(scaled.cosine.values()[i] == doctest::Approx(1.2 * static_cast<double>(plain.cosine.values()[i])));
    CHECK(scaled.sine.values()[i] == doctest::Approx(1.2 * static_cast<double>(plain.sine.values()[i])));
  }
}

// A table that grows with the longest text so far must not change the angles it had.
TEST_CASE("the model's context decides about the scaling, not the length of the table") {
  const RopeTable few = rope_table(8, 8, 10000, yarn(4, 16), 64), all = rope_table(64, 8, 10000, yarn(4, 16));
  for (std::size_t i = 0; i < few.sine.size(); ++i) CHECK(few.sine.values()[i] == all.sine.values()[i]);
  CHECK(few.sine.values()[7 * 4 + 1] != rope_table(8, 8, 10000, yarn(4, 16)).sine.values()[7 * 4 + 1]);
}

TEST_CASE("yarn refuses numbers that make no sense, and says which") {
  const auto refused = [](RopeScaling scaling, double theta, const char* message) {
    scaling.kind = RopeScalingKind::yarn;
    CHECK_THROWS_WITH_AS(rope_speeds(8, theta, scaling, 64), message, ShapeError);
  };
  refused({.factor = 0, .original_context = 16}, 100, "yarn: factor must be above 0, not 0");
  refused({.factor = 2}, 100, "yarn: original_context must be 1 or more, not 0; it is the context of the training");
  refused({.original_context = 16, .beta_fast = 1, .beta_slow = 2}, 100,
          "yarn: beta_fast 1 must be at least beta_slow 2, and both above 0");
  refused({.original_context = 16, .attention_factor = NAN}, 100, "yarn: attention_factor must be above 0, not nan");
  refused({.original_context = 16}, 1,
          "yarn: theta must be above 1, not 1; otherwise no point turns slower than the first");
}
