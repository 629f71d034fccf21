// A hash that is the same on every machine: Fowler, Noll and Vo's FNV-1a of 64 bits, byte by byte.
#pragma once

#include <cstdint>
#include <string_view>

namespace gradus::optim {

inline constexpr std::uint64_t fnv_begin = 0xCBF29CE484222325;

inline std::uint64_t fnv(std::string_view bytes, std::uint64_t hash = fnv_begin) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
  return hash;
}

}  // namespace gradus::optim
