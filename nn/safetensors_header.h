// The header of a safetensors file: which tensor of what type and shape has which bytes.
//
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …, "__metadata__": {"key": "text"}}
//
// It comes from anywhere, so nothing in it is believed: all of it is checked before a number is read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::nn {

// The largest header that is believed, and the name under which it keeps texts about the file.
inline constexpr std::uint64_t safetensors_max_header = 100'000'000;
inline constexpr const char* safetensors_metadata_key = "__metadata__";

struct SafetensorsEntry {
  std::string dtype;
  std::vector<std::uint64_t> extents;
  std::uint64_t begin;  // of its bytes in the data
  std::uint64_t end;
};

struct SafetensorsHeader {
  std::map<std::string, SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
};

// The header of a file with so many bytes of data. The path is for messages only.
// Errors: FileError with the path, the tensor, what was expected and what was found. Refused are tensors that overlap,
// leave a hole or do not cover the data exactly, and a name used twice: two readers would see two different models.
SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes, const std::string& path);

}  // namespace gradus::nn
