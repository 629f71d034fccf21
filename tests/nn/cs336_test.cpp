// Single operations against the expected outputs of Stanford's course CS336 (assignment 1).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "autograd/ops/attention.h"
#include "autograd/ops/rope.h"

using namespace gradus;

static const auto folder = std::filesystem::path(GRADUS_SHARED_DIR) / "data/cs336/snapshots/inputs";

static bool absent() {
  if (std::filesystem::exists(folder)) return false;
  MESSAGE("skipped: " << folder.string() << " is not there");
  return true;
}

// A file of bare numbers, row-major.
template <class Stored>
static std::vector<Stored> numbers(const char* name, std::size_t count) {
  std::vector<Stored> values(count);
  std::ifstream stream(folder / name, std::ios::binary);
  stream.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(Stored)));
  REQUIRE_MESSAGE(stream.good(), name);
  return values;
}

static Tensor tensor(const char* name, const Shape& shape) {
  const std::vector<float> values = numbers<float>(name, shape.size());
  return Tensor(shape, std::vector<Real>(values.begin(), values.end()));
}

// Theirs are float results: a computation in double is 6e-7 away.
static void check_equal(const Tensor& ours, const Tensor& expected) {
  REQUIRE(ours.shape() == expected.shape());
  double worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(ours.values()[i] - expected.values()[i])));
  CHECK(worst < 2e-6);
}

TEST_CASE("rope turns adjacent pairs as CS336 does") {
  if (absent()) return;
  const Tensor x = tensor("in_embeddings_4x12x64.f32", {4, 12, 64});
  const Tensor expected = tensor("expected_rope_4x12x64.f32", {4, 12, 64});
  check_equal(rope(x, rope_table(12, 64, 10000), RopePairing::adjacent), expected);
}

// Their mask says for each query which keys it sees, in no order of time: a bias of −∞ on the others.
TEST_CASE("attention under any mask is that of CS336, fused and composed") {
  if (absent()) return;
  const Tensor q = tensor("q_4x12x64.f32", {4, 12, 64}), k = tensor("k_4x16x64.f32", {4, 16, 64}),
               v = tensor("v_4x16x64.f32", {4, 16, 64});
  const Tensor expected = tensor("expected_scaled_dot_product_attention_4x12x64.f32", {4, 12, 64});
  const std::vector<std::uint8_t> mask = numbers<std::uint8_t>("mask_4x12x16.u8", 4 * 12 * 16);
  Tensor bias({4, 1, 12, 16});
  for (std::size_t i = 0; i < mask.size(); ++i)
    bias.mutable_values()[i] = mask[i] != 0 ? 0 : -std::numeric_limits<Real>::infinity();
  const std::vector<int> all_keys(4 * 12, 16);
  const AttentionExtras extras{.bias = bias, .visible = all_keys};
  check_equal(attention(q, k, v, {1, 1}, {}, extras), expected);
  check_equal(attention_composed(q, k, v, {1, 1}, {}, extras).output, expected);
}
