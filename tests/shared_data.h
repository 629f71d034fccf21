// Other people's files, for tests that compare with them and skip where they are not at hand.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace gradus {

inline const std::filesystem::path data = std::filesystem::path(GRADUS_SHARED_DIR) / "data";

inline bool absent() {
  if (std::filesystem::exists(data)) return false;
  MESSAGE("skipped: " << data.string() << " is not there");
  return true;
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace gradus
