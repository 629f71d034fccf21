#include "nn/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <type_traits>

#include "autograd/error.h"

namespace gradus::nn {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian: swap bytes here first");

using Json = nlohmann::json;
using Path = std::filesystem::path;
using Entry = SafetensorsFile::Entry;

// Throws FileError for a tensor of a file.
template <class... Arguments>
static void check(bool condition, const Path& path, std::string_view name, std::string_view rule,
                  const Arguments&... arguments) {
  if (condition) [[likely]]
    return;
  throw FileError(message("{}: tensor \"{}\": {}", path.string(), name, message(rule, arguments...)));
}

// For messages: the text of a value, cut where a hostile file makes it long.
struct Dumped {
  const Json& json;
  std::string text() const {
    const std::string all = json.dump();
    return all.size() <= 80 ? all : all.substr(0, 80) + " …";
  }
};

// 0 for a name that is no type of the format.
static std::uint64_t bits_of(std::string_view dtype) {
  static constexpr std::pair<std::string_view, std::uint64_t> types[] = {
      {"F64", 64},    {"F32", 32},        {"F16", 16},   {"BF16", 16},      {"I64", 64},         {"I32", 32},
      {"I16", 16},    {"I8", 8},          {"U64", 64},   {"U32", 32},       {"U16", 16},         {"U8", 8},
      {"BOOL", 8},    {"C64", 64},        {"F4", 4},     {"F6_E2M3", 6},    {"F6_E3M2", 6},      {"F8_E4M3", 8},
      {"F8_E5M2", 8}, {"F8_E8M0", 8},     {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};
  for (const auto& [name, bits] : types)
    if (name == dtype) return bits;
  return 0;
}

static std::string read_header(const Path& path, std::uint64_t& data_begin, std::uint64_t& data_bytes) {
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

  std::string header(length, '\0');
  stream.read(header.data(), static_cast<std::streamsize>(length));
  expect<FileError>(stream.good(), "{}: cannot read the header of {} bytes", file, length);
  data_begin = 8 + length;
  data_bytes = size - data_begin;
  return header;
}

// The parser lets three things pass that are refused here: a zero byte, which it takes for the end; a byte order mark;
// and a name used twice, of which it keeps the last. Nesting beyond {name: {"shape": [ … ]}} stops it at once.
static Json parse_header(const Path& path, const std::string& header) {
  const std::string file = path.string();
  expect<FileError>(header.find('\0') == std::string::npos, "{}: the header has a zero byte, which JSON forbids", file);
  const std::size_t first = header.find_first_not_of(" \t\r\n");
  expect<FileError>(first != std::string::npos && header[first] == '{', "{}: the header is not a JSON object", file);

  std::array<std::set<std::string>, 3> keys;  // of the objects that are open, by depth
  const auto inspect = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      expect<FileError>(depth <= 2, "{}: the header is nested deeper than the format allows", file);
      keys[static_cast<std::size_t>(depth)].clear();
    } else if (event == Event::key) {
      const std::string& key = parsed.get_ref<const std::string&>();
      expect<FileError>(keys[static_cast<std::size_t>(depth) - 1].insert(key).second,
                        "{}: the header has the name \"{}\" twice", file, key);
    }
    return true;
  };
  try {
    return Json::parse(header, inspect);
  } catch (const Json::exception& error) {
    throw FileError(message("{}: the header is not JSON: {}", file, error.what()));
  }
}

static std::map<std::string, std::string> parse_metadata(const Path& path, const Json& json) {
  const std::string file = path.string();
  expect<FileError>(json.is_object(), "{}: {} must be an object, it is {}", file, safetensors_metadata_key, json.type_name());
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.items()) {
    expect<FileError>(value.is_string(), "{}: {}: \"{}\" must be a string, it is {}", file, safetensors_metadata_key, key,
                      value.type_name());
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// One tensor's description, with everything about it checked that can be checked without its neighbours.
static Entry parse_entry(const Path& path, const std::string& name, const Json& json, std::uint64_t data_bytes) {
  check(json.is_object(), path, name, "its entry must be an object, it is {}", json.type_name());
  for (const char* field : {"dtype", "shape", "data_offsets"})
    check(json.contains(field), path, name, "its entry has no {}", field);
  check(json.size() == 3, path, name, "its entry has {} fields, expected only dtype, shape and data_offsets",
        json.size());

  const Json &dtype = json["dtype"], &shape = json["shape"], &offsets = json["data_offsets"];
  check(dtype.is_string(), path, name, "dtype must be a string, it is {}", Dumped{dtype});
  Entry entry{.dtype = dtype.get<std::string>(), .extents = {}, .begin = 0, .end = 0};
  const std::uint64_t bits = bits_of(entry.dtype);
  check(bits > 0, path, name, "the format has no dtype {}", entry.dtype);

  check(shape.is_array(), path, name, "shape must be a list, it is {}", Dumped{shape});
  for (const Json& extent : shape) {
    check(extent.is_number_unsigned(), path, name, "shape {} must hold whole numbers of 0 or more", Dumped{shape});
    entry.extents.push_back(extent.get<std::uint64_t>());
  }

  check(offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() &&
            offsets[1].is_number_unsigned(),
        path, name, "data_offsets must be two whole numbers of 0 or more, they are {}", Dumped{offsets});
  entry.begin = offsets[0].get<std::uint64_t>();
  entry.end = offsets[1].get<std::uint64_t>();
  check(entry.begin <= entry.end && entry.end <= data_bytes, path, name,
        "data_offsets {} must rise and end within the {} bytes of data", Dumped{offsets}, data_bytes);

  std::uint64_t total = bits;
  for (const std::uint64_t extent : entry.extents) {
    check(extent == 0 || total <= std::numeric_limits<std::uint64_t>::max() / extent, path, name,
          "shape {} of {} has more bytes than can be counted", Dumped{shape}, entry.dtype);
    total *= extent;
  }
  check(total % 8 == 0, path, name, "shape {} of {} does not fill whole bytes", Dumped{shape}, entry.dtype);
  check(total / 8 == entry.end - entry.begin, path, name, "shape {} of {} needs {} bytes, data_offsets {} hold {}",
        Dumped{shape}, entry.dtype, total / 8, Dumped{offsets}, entry.end - entry.begin);
  return entry;
}

// In the order of their bytes every tensor begins where the one before ends, and the last ends where the file does.
static void check_coverage(const Path& path, const std::map<std::string, Entry>& entries, std::uint64_t data_bytes) {
  std::vector<const std::pair<const std::string, Entry>*> order;
  for (const auto& item : entries) order.push_back(&item);
  std::ranges::sort(order, {}, [](const auto* item) { return std::pair(item->second.begin, item->second.end); });
  std::uint64_t covered = 0;
  for (const auto* item : order) {
    const auto& [name, entry] = *item;
    check(entry.begin == covered, path, name,
          "its bytes begin at {}, expected {}, the end of those before: there is {}", entry.begin, covered,
          entry.begin < covered ? "an overlap" : "a hole");
    covered = entry.end;
  }
  expect<FileError>(covered == data_bytes, "{}: the tensors end at byte {} of the data, the file has {}: {} belong to "
                    "none", path.string(), covered, data_bytes, data_bytes - covered);
}

SafetensorsFile::SafetensorsFile(const Path& path) : path_(path) {
  std::uint64_t data_bytes = 0;
  const std::string header = read_header(path, data_begin_, data_bytes);
  const Json json = parse_header(path, header);
  for (const auto& [name, value] : json.items())
    if (name == safetensors_metadata_key)
      metadata_ = parse_metadata(path, value);
    else
      entries_.emplace(name, parse_entry(path, name, value, data_bytes));
  check_coverage(path, entries_, data_bytes);
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  for (const auto& item : entries_) names.push_back(item.first);
  return names;
}

const Entry& SafetensorsFile::entry(const std::string& name) const {
  const auto found = entries_.find(name);
  check(found != entries_.end(), path_, name, "there is none of this name among its {}", entries_.size());
  return found->second;
}

Shape SafetensorsFile::shape(const std::string& name) const {
  const std::vector<std::uint64_t>& extents = entry(name).extents;
  check(extents.size() <= Shape::max_rank, path_, name, "it has {} axes, at most {} are supported", extents.size(),
        Shape::max_rank);
  return Shape(std::vector<std::size_t>(extents.begin(), extents.end()));
}

const std::string& SafetensorsFile::dtype(const std::string& name) const { return entry(name).dtype; }

// Reads numbers stored as `Stored`: in one go if they are wanted as such, else through a small buffer.
template <class Stored, class Wanted>
static bool read_numbers(std::istream& stream, std::span<Wanted> numbers) {
  if constexpr (std::is_same_v<Stored, Wanted>) {
    stream.read(reinterpret_cast<char*>(numbers.data()), static_cast<std::streamsize>(numbers.size_bytes()));
  } else {
    std::array<Stored, 4096> part;
    for (std::size_t done = 0; done < numbers.size() && stream; done += part.size()) {
      const std::size_t count = std::min(part.size(), numbers.size() - done);
      stream.read(reinterpret_cast<char*>(part.data()), static_cast<std::streamsize>(count * sizeof(Stored)));
      for (std::size_t i = 0; i < count; ++i) numbers[done + i] = static_cast<Wanted>(part[i]);
    }
  }
  return stream.good();
}

static std::ifstream open_at(const Path& path, std::uint64_t position) {
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(position));
  return stream;
}

static constexpr const char* changed = "its bytes can no longer be read; was the file changed meanwhile?";

Tensor SafetensorsFile::read(const std::string& name) const {
  Tensor tensor(shape(name));
  read_into(name, tensor);
  return tensor;
}

// Reads all of an F32 or F64 tensor.
template <class Wanted>
static void read_floats(const Path& path, const std::string& name, const Entry& entry, std::uint64_t data_begin,
                        std::span<Wanted> numbers) {
  check(entry.dtype == "F32" || entry.dtype == "F64", path, name, "cannot read {} as numbers of a tensor, only F32 "
        "and F64", entry.dtype);
  std::ifstream stream = open_at(path, data_begin + entry.begin);
  const bool whole = entry.dtype == "F32" ? read_numbers<float>(stream, numbers)
                                          : read_numbers<double>(stream, numbers);
  check(whole, path, name, changed);
}

void SafetensorsFile::read_into(const std::string& name, Tensor& tensor) const {
  const Entry& found = entry(name);
  check(shape(name) == tensor.shape(), path_, name, "expected shape {}, found {}", tensor.shape(), shape(name));
  read_floats(path_, name, found, data_begin_, tensor.mutable_values());
}

std::vector<double> SafetensorsFile::numbers(const std::string& name) const {
  std::vector<double> numbers(shape(name).size());
  read_floats(path_, name, entry(name), data_begin_, std::span(numbers));
  return numbers;
}

std::vector<std::int64_t> SafetensorsFile::integers(const std::string& name) const {
  const Entry& found = entry(name);
  check(found.dtype == "I64", path_, name, "cannot read {} as integers, only I64", found.dtype);
  std::vector<std::int64_t> numbers((found.end - found.begin) / sizeof(std::int64_t));
  std::ifstream stream = open_at(path_, data_begin_ + found.begin);
  check(read_numbers<std::int64_t>(stream, std::span(numbers)), path_, name, changed);
  return numbers;
}

}  // namespace gradus::nn
