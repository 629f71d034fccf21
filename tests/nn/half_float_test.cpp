#include "nn/half_float.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace gradus::nn;

TEST_CASE("bf16 and f16 bits mean what their formats say") {
  CHECK(from_bf16(0x3F80) == 1.0f);
  CHECK(from_bf16(0xC049) == -3.140625f);
  CHECK(from_f16(0x3C00) == 1.0f);
  CHECK(from_f16(0x0001) == 0x1p-24f);
  CHECK(from_f16(0x7BFF) == 65504.0f);
  CHECK(from_f16(0x8000) == 0.0f);
  CHECK(std::signbit(from_f16(0x8000)));
  CHECK(from_f16(0xFC00) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(from_f16(0x7E01)));
}

TEST_CASE("every 16-bit number comes back from float as the same bits, and not a number as one") {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    if (std::isnan(from_f16(bits)))
      REQUIRE(std::isnan(from_f16(to_f16(from_f16(bits)))));
    else
      REQUIRE(to_f16(from_f16(bits)) == bits);
    if (std::isnan(from_bf16(bits)))
      REQUIRE(std::isnan(from_bf16(to_bf16(from_bf16(bits)))));
    else
      REQUIRE(to_bf16(from_bf16(bits)) == bits);
  }
}

TEST_CASE("a float between two neighbours becomes the nearer, and half way the even one") {
  const auto check = [](auto from, auto to, std::uint32_t last) {
    for (std::uint32_t i = 0; i < last; ++i) {
      const auto lower = static_cast<std::uint16_t>(i), upper = static_cast<std::uint16_t>(i + 1);
      const float a = from(lower), b = from(upper), middle = a / 2 + b / 2;
      REQUIRE(to(middle) == (i % 2 == 0 ? lower : upper));
      REQUIRE(to(std::nextafter(middle, a)) == lower);
      REQUIRE(to(std::nextafter(middle, b)) == upper);
      REQUIRE(to(-middle) == (0x8000 | to(middle)));
    }
  };
  check(from_f16, to_f16, 0x7BFF);
  check([](std::uint16_t bits) { return from_bf16(bits); }, to_bf16, 0x7F7F);
  CHECK(to_f16(65519.996f) == 0x7BFF);
  CHECK(to_f16(65520.0f) == 0x7C00);
  CHECK(to_f16(1e30f) == 0x7C00);
}
