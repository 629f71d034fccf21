#include "nn/half_float.h"

#include <cmath>

namespace gradus::nn {

// With exponent e and fraction f:  (1 + f / 2¹⁰) 2^(e − 15), or f 2^(−24) where e = 0; e = 31 holds ∞ and NaN.
float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} >> 15 << 31, exponent = bits >> 10 & 31u, fraction = bits & 1023u;
  if (exponent == 0) return std::copysign(std::ldexp(static_cast<float>(fraction), -24), std::bit_cast<float>(sign));
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 64);  // the bits that stay could all be 0
  const std::uint32_t half = 0x7FFF + (bits >> 16 & 1);                      // so that a tie goes to the even neighbour
  return static_cast<std::uint16_t>((bits + half) >> 16);
}

std::uint16_t to_f16(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const float size = std::abs(value);
  if (std::isnan(value)) return sign | 0x7E00;
  if (size >= 65520) return sign | 0x7C00;  // half way between the largest number and the one that would follow
  int exponent = 0;
  std::frexp(size, &exponent);                                // size is in [½, 1) · 2^exponent
  const int unit = size < 0x1p-14f ? -24 : exponent - 11;     // the distance of neighbours is 2^unit
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -unit)));  // ties to even
  // A number of 2^10 steps or more has an exponent field of unit + 25; its leading step adds one to it.
  const auto field = static_cast<std::uint32_t>(unit + 24) << 10;
  return static_cast<std::uint16_t>(sign | (field + steps));
}

}  // namespace gradus::nn
