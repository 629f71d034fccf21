// Safetensors files: named tensors behind a JSON header.
//
//   8 bytes   length of the header, little-endian
//   header    {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …, "__metadata__": {"key": "text"}}
//   data      the tensors' numbers, little-endian and row-major; the offsets count from here
//
// A file comes from anywhere, so nothing in it is believed: the whole header is checked before a number is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "autograd/tensor.h"

namespace gradus::nn {

// The largest header that is believed, and the name under which it keeps texts about the file.
inline constexpr std::uint64_t safetensors_max_header = 100'000'000;
inline constexpr const char* safetensors_metadata_key = "__metadata__";

class SafetensorsFile {
 public:
  struct Entry {
    std::string dtype;
    std::vector<std::uint64_t> extents;
    std::uint64_t begin;  // of its bytes in the data
    std::uint64_t end;
  };

  // Reads and checks the header. Errors here and below: FileError with the path, the tensor, what was expected and
  // what was found. A file is refused whose tensors overlap, leave a hole or do not cover the data exactly, and
  // one with a name twice: two readers would see two different models in it.
  explicit SafetensorsFile(const std::filesystem::path& path);

  std::vector<std::string> names() const;  // in alphabetical order
  bool contains(const std::string& name) const { return entries_.contains(name); }
  Shape shape(const std::string& name) const;
  const std::string& dtype(const std::string& name) const;  // the format's spelling: "F32", "BF16", "I64", …
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  // The numbers of an F32 or F64 tensor as Real.
  Tensor read(const std::string& name) const;
  // The same, into the values of a tensor that must have the file's shape.
  void read_into(const std::string& name, Tensor& tensor) const;
  // The numbers of an F32 or F64 tensor as they are in the file, whatever Real is; row-major.
  std::vector<double> numbers(const std::string& name) const;
  // The numbers of an I64 tensor, row-major.
  std::vector<std::int64_t> integers(const std::string& name) const;

 private:
  const Entry& entry(const std::string& name) const;

  std::filesystem::path path_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> metadata_;
  std::uint64_t data_begin_ = 0;  // in the file
};

// Writes the tensors as F32, sorted by name, the metadata and with it the entry format = pt, without which the usual
// readers refuse a file. The file is there whole or not at all (nn/atomic_file.h).
// Errors: FileError for a name that is empty, taken twice, reserved or not UTF-8, and for whatever the system says.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace gradus::nn
