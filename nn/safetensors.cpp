#include "nn/safetensors.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <limits>
#include <type_traits>

#include "autograd/error.h"
#include "nn/half_float.h"

namespace gradus::nn {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian: swap bytes here first");

using Path = std::filesystem::path;
using Entry = SafetensorsEntry;

// Throws FileError for a tensor of a file.
template <class... Arguments>
static void check(bool condition, const Path& path, std::string_view name, std::string_view rule,
                  const Arguments&... arguments) {
  if (condition) [[likely]]
    return;
  throw FileError(message("{}: tensor \"{}\": {}", path.string(), name, message(rule, arguments...)));
}

SafetensorsFile::SafetensorsFile(const Path& path) : path_(path) {
  const std::string file = path.string();
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  expect<FileError>(!error, "{}: cannot read it: {}", file, error.message());
  expect<FileError>(size >= 8, "{}: a safetensors file begins with 8 bytes that say its header's length; it has {} "
                    "bytes in all", file, size);

  std::ifstream stream(path, std::ios::binary);
  std::uint64_t length = 0;
  stream.read(reinterpret_cast<char*>(&length), 8);
  expect<FileError>(stream.good(), "{}: cannot read it; is it yours to read?", file);
  expect<FileError>(length >= 2 && length <= safetensors_max_header,
                    "{}: the first 8 bytes give a header of {} bytes, expected 2 to {}; is this a safetensors file?",
                    file, length, safetensors_max_header);
  expect<FileError>(length <= size - 8, "{}: the header should have {} bytes, only {} follow; the file was cut off",
                    file, length, size - 8);

  std::string text(length, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(length));
  expect<FileError>(stream.good(), "{}: cannot read the header of {} bytes", file, length);
  data_begin_ = 8 + length;
  header_ = parse_safetensors_header(text, size - data_begin_, file);
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  for (const auto& item : header_.entries) names.push_back(item.first);
  return names;
}

const Entry& SafetensorsFile::entry(const std::string& name) const {
  const auto found = header_.entries.find(name);
  check(found != header_.entries.end(), path_, name, "there is none of this name among its {}", size());
  return found->second;
}

Shape SafetensorsFile::shape(const std::string& name) const {
  const std::vector<std::uint64_t>& extents = entry(name).extents;
  check(extents.size() <= Shape::max_rank, path_, name, "it has {} axes, at most {} are supported", extents.size(),
        Shape::max_rank);
  try {
    return Shape(std::vector<std::size_t>(extents.begin(), extents.end()));
  } catch (const ShapeError& problem) {
    throw FileError(message("{}: tensor \"{}\": {}", path_.string(), name, problem.what()));
  }
}

const std::string& SafetensorsFile::dtype(const std::string& name) const { return entry(name).dtype; }

std::ifstream SafetensorsFile::open(const Entry& entry) const {
  std::ifstream stream(path_, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(data_begin_ + entry.begin));  // 64 bits
  return stream;
}

static constexpr const char* changed = "its bytes can no longer be read; was the file changed meanwhile?";

// Reads numbers stored as `Stored`, each through convert(): through a buffer of 1 MiB, which is aligned whatever the
// tensor's place in the file.
template <class Stored, class Wanted, class Convert>
static bool read_through(std::istream& stream, std::span<Wanted> numbers, const Convert& convert) {
  std::vector<Stored> part(std::min(numbers.size(), (std::size_t{1} << 20) / sizeof(Stored)));
  for (std::size_t done = 0; done < numbers.size() && stream; done += part.size()) {
    const std::size_t count = std::min(part.size(), numbers.size() - done);
    stream.read(reinterpret_cast<char*>(part.data()), static_cast<std::streamsize>(count * sizeof(Stored)));
    for (std::size_t i = 0; i < count; ++i) numbers[done + i] = static_cast<Wanted>(convert(part[i]));
  }
  return stream.good();
}

template <class Stored, class Wanted>
static bool read_numbers(std::istream& stream, std::span<Wanted> numbers) {
  if constexpr (std::is_same_v<Stored, Wanted>) {
    stream.read(reinterpret_cast<char*>(numbers.data()), static_cast<std::streamsize>(numbers.size_bytes()));
    return stream.good();
  } else {
    return read_through<Stored>(stream, numbers, [](Stored number) { return number; });
  }
}

template <class Wanted>
static void read_floats(std::istream& stream, const Path& path, const std::string& name, const std::string& dtype,
                        std::span<Wanted> numbers) {
  bool whole = false;
  if (dtype == "F32")
    whole = read_numbers<float>(stream, numbers);
  else if (dtype == "F64")
    whole = read_numbers<double>(stream, numbers);
  else if (dtype == "BF16")
    whole = read_through<std::uint16_t>(stream, numbers, from_bf16);
  else if (dtype == "F16")
    whole = read_through<std::uint16_t>(stream, numbers, from_f16);
  else
    check(false, path, name, "cannot read {} as numbers of a tensor, only F64, F32, F16 and BF16", dtype);
  check(whole, path, name, changed);
}

Tensor SafetensorsFile::read(const std::string& name) const {
  Tensor tensor(shape(name));
  read_into(name, tensor);
  return tensor;
}

void SafetensorsFile::read_into(const std::string& name, Tensor& tensor) const {
  check(shape(name) == tensor.shape(), path_, name, "expected shape {}, found {}", tensor.shape(), shape(name));
  std::ifstream stream = open(entry(name));
  read_floats(stream, path_, name, dtype(name), tensor.mutable_values());
}

std::vector<double> SafetensorsFile::numbers(const std::string& name) const {
  std::vector<double> numbers(shape(name).size());
  std::ifstream stream = open(entry(name));
  read_floats(stream, path_, name, dtype(name), std::span(numbers));
  return numbers;
}

std::vector<std::int64_t> SafetensorsFile::integers(const std::string& name) const {
  const Entry& found = entry(name);
  std::vector<std::int64_t> numbers(shape(name).size());
  std::ifstream stream = open(found);
  const auto unsigned_64 = [&](std::uint64_t number) {
    check(number <= std::numeric_limits<std::int64_t>::max(), path_, name, "{} is above {}, the largest whole number "
          "that can be read", number, std::numeric_limits<std::int64_t>::max());
    return number;
  };
  const std::span wanted(numbers);
  bool whole = false;
  if (found.dtype == "I64") whole = read_numbers<std::int64_t>(stream, wanted);
  else if (found.dtype == "I32") whole = read_numbers<std::int32_t>(stream, wanted);
  else if (found.dtype == "I16") whole = read_numbers<std::int16_t>(stream, wanted);
  else if (found.dtype == "I8") whole = read_numbers<std::int8_t>(stream, wanted);
  else if (found.dtype == "U64") whole = read_through<std::uint64_t>(stream, wanted, unsigned_64);
  else if (found.dtype == "U32") whole = read_numbers<std::uint32_t>(stream, wanted);
  else if (found.dtype == "U16") whole = read_numbers<std::uint16_t>(stream, wanted);
  else if (found.dtype == "U8") whole = read_numbers<std::uint8_t>(stream, wanted);
  else check(false, path_, name, "cannot read {} as whole numbers, only I8 to I64 and U8 to U64", found.dtype);
  check(whole, path_, name, changed);
  return numbers;
}

}  // namespace gradus::nn
