// Safetensors files: named tensors behind a JSON header.
//
//   8 bytes   length of the header, little-endian
//   header    see nn/safetensors_header.h
//   data      the tensors' numbers, little-endian and row-major; the offsets count from here
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/tensor.h"
#include "nn/safetensors_header.h"

namespace gradus::nn {

class SafetensorsFile {
 public:
  // Reads and checks the header. Errors here and below: FileError with the path, the tensor, what was expected and
  // what was found.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::vector<std::string> names() const;  // in alphabetical order
  std::size_t size() const { return header_.entries.size(); }
  bool contains(const std::string& name) const { return header_.entries.contains(name); }
  Shape shape(const std::string& name) const;
  const std::string& dtype(const std::string& name) const;  // the format's spelling: "F32", "BF16", "I64", …
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }

  // The numbers of an F64, F32, F16 or BF16 tensor as Real. Those that are stored as Real are read to their place;
  // others pass through a buffer of 1 MiB, so that nothing is ever held twice.
  Tensor read(const std::string& name) const;
  // The same, into the values of a tensor that must have the file's shape.
  void read_into(const std::string& name, Tensor& tensor) const;
  // The same numbers as they are in the file, whatever Real is; row-major.
  std::vector<double> numbers(const std::string& name) const;
  // The numbers of a tensor of whole numbers, row-major. Errors: one of U64 above the largest of I64.
  std::vector<std::int64_t> integers(const std::string& name) const;

 private:
  const SafetensorsEntry& entry(const std::string& name) const;
  std::ifstream open(const SafetensorsEntry& entry) const;

  std::filesystem::path path_;
  SafetensorsHeader header_;
  std::uint64_t data_begin_ = 0;  // in the file
};

// How numbers are kept in a file. F16 and BF16 are for passing models on: a rounded number does not come back.
enum class FloatFormat { f32, f64, f16, bf16 };
// The one that keeps every Real.
inline constexpr FloatFormat exact_format = sizeof(Real) == sizeof(double) ? FloatFormat::f64 : FloatFormat::f32;

std::string_view word_of(FloatFormat format);  // "f32", …
// Errors: no such word, listing those there are.
void from_word(std::string_view word, FloatFormat& format);

// Writes the tensors sorted by name, and the metadata with the entry format = pt, without which the usual readers
// refuse a file. The file is there whole or not at all (nn/atomic_file.h).
// Errors: FileError for a name that is empty, taken twice, reserved or not UTF-8; for a number too large for F16 or
// BF16; and for whatever the system says.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata = {}, FloatFormat format = FloatFormat::f32);

}  // namespace gradus::nn
