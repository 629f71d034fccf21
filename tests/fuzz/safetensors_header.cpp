// The header alone, as if much data followed: larger numbers than a file of some bytes could have.
#include "nn/safetensors_header.h"

#include "tests/fuzz/target.h"

using namespace gradus;

FUZZ(bytes) {
  for (const std::uint64_t data_bytes : {std::uint64_t{0}, std::uint64_t{4}, std::uint64_t{24}, std::uint64_t{1} << 40})
    fuzz::expect_no_surprise([&] {
      const nn::SafetensorsHeader header = nn::parse_safetensors_header(bytes, data_bytes, "header");
      std::uint64_t covered = 0;
      for (const auto& [name, entry] : header.entries) covered += entry.end - entry.begin;
      fuzz::require(covered == data_bytes);
    });
}
