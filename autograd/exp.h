// eˣ for a loop: the same as std::exp to about one unit in the last place, written so that compilers turn a loop
// of it into vector instructions. In the double flavour it is std::exp itself.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "autograd/real.h"

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "-ffast-math and -ffinite-math-only lose NaN and infinity, which the operations must pass on: compile without them"
#endif

namespace gradus {

// Write x = n ln 2 + r with |r| ≤ ½ ln 2. Then eˣ = 2ⁿ eʳ, and a short polynomial is enough for eʳ.
inline float fast_exp(float x) {
  constexpr float log2_e = 1.44269504f;
  constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;  // ln 2 in two parts, the first exact in 9 bits
  constexpr float round_magic = 12582912.0f;                           // 1.5 · 2²³: adding it leaves no fraction bits

  const float clamped = x < -104.0f ? -104.0f : (x > 89.0f ? 89.0f : x);  // a NaN passes both comparisons
  const float shifted = clamped * log2_e + round_magic;
  const float n = shifted - round_magic;
  const float r = (clamped - n * ln2_high) - n * ln2_low;

  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;

  // 2ⁿ in two factors, so that results down to the smallest subnormal number and up to infinity come out right.
  const std::int32_t whole = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(round_magic);
  const std::int32_t half = whole >> 1;
  const float scale1 = std::bit_cast<float>((half + 127) << 23);
  const float scale2 = std::bit_cast<float>((whole - half + 127) << 23);
  return p * scale1 * scale2;
}

inline double fast_exp(double x) { return std::exp(x); }

}  // namespace gradus
