// The two 16-bit formats in which weights are kept: in files only, never in a Tensor.
//
//   BF16   1 sign, 8 exponent, 7 fraction bits: the upper half of a float
//   F16    1 sign, 5 exponent, 10 fraction bits: from 6e-8 to 65504, IEEE 754's binary16
#pragma once

#include <bit>
#include <cstdint>

namespace gradus::nn {

inline float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
float from_f16(std::uint16_t bits);

// The nearest number of the format, of two as near the even one; too large for it: infinity. Not a number stays so.
std::uint16_t to_bf16(float value);
std::uint16_t to_f16(float value);

}  // namespace gradus::nn
