// What every fuzz target is: a reader that takes any bytes or refuses them with a FileError. Anything else that it does
// — another exception, a crash, a hang, much memory — is a finding.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "autograd/error.h"

namespace gradus::fuzz {

// For readers that open a file themselves: the bytes as a file of this process, overwritten each time.
inline std::filesystem::path as_file(std::string_view bytes) {
  static const std::string path = std::filesystem::temp_directory_path() / ("gradus_fuzz_" + std::to_string(getpid()));
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  return path;
}

template <class Read>
void expect_no_surprise(const Read& read) {
  try {
    read();
  } catch (const FileError&) {
  }
}

// The program ends here, and the bytes that led here are kept.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace gradus::fuzz

// FUZZ(bytes) { … }: a target's body.
#define FUZZ(bytes)                                                                       \
  static void target(std::string_view bytes);                                             \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {     \
    target({reinterpret_cast<const char*>(data), size});                                  \
    return 0;                                                                             \
  }                                                                                       \
  static void target(std::string_view bytes)
