#include "nn/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "autograd/error.h"

namespace gradus::nn {

using Json = nlohmann::json;

// Throws FileError for a tensor of a file.
template <class... Arguments>
static void check(bool condition, const std::string& path, std::string_view name, std::string_view rule,
                  const Arguments&... arguments) {
  if (condition) [[likely]]
    return;
  throw FileError(message("{}: tensor \"{}\": {}", path, name, message(rule, arguments...)));
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

// The parser lets three things pass that are refused here: a zero byte, which it takes for the end; a byte order mark;
// and a name used twice, of which it keeps the last. Nesting beyond {name: {"shape": [ … ]}} stops it at once.
static Json parse_json(const std::string& path, std::string_view header) {
  expect<FileError>(header.find('\0') == header.npos, "{}: the header has a zero byte, which JSON forbids", path);
  const std::size_t first = header.find_first_not_of(" \t\r\n");
  expect<FileError>(first != header.npos && header[first] == '{', "{}: the header is not a JSON object", path);

  std::array<std::set<std::string>, 3> keys;  // of the objects that are open, by depth
  const auto inspect = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      expect<FileError>(depth <= 2, "{}: the header is nested deeper than the format allows", path);
      keys[static_cast<std::size_t>(depth)].clear();
    } else if (event == Event::key) {
      const std::string& key = parsed.get_ref<const std::string&>();
      expect<FileError>(keys[static_cast<std::size_t>(depth) - 1].insert(key).second,
                        "{}: the header has the name \"{}\" twice", path, key);
    }
    return true;
  };
  try {
    return Json::parse(header, inspect);
  } catch (const Json::exception& error) {
    throw FileError(message("{}: the header is not JSON: {}", path, error.what()));
  }
}

static std::map<std::string, std::string> parse_metadata(const std::string& path, const Json& json) {
  expect<FileError>(json.is_object(), "{}: {} must be an object, it is {}", path, safetensors_metadata_key,
                    json.type_name());
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.items()) {
    expect<FileError>(value.is_string(), "{}: {}: \"{}\" must be a string, it is {}", path, safetensors_metadata_key,
                      key, value.type_name());
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// One tensor's description, with everything about it checked that can be checked without its neighbours.
static SafetensorsEntry parse_entry(const std::string& path, const std::string& name, const Json& json,
                                    std::uint64_t data_bytes) {
  check(json.is_object(), path, name, "its entry must be an object, it is {}", json.type_name());
  for (const char* field : {"dtype", "shape", "data_offsets"})
    check(json.contains(field), path, name, "its entry has no {}", field);
  check(json.size() == 3, path, name, "its entry has {} fields, expected only dtype, shape and data_offsets",
        json.size());

  const Json &dtype = json["dtype"], &shape = json["shape"], &offsets = json["data_offsets"];
  check(dtype.is_string(), path, name, "dtype must be a string, it is {}", Dumped{dtype});
  SafetensorsEntry entry{.dtype = dtype.get<std::string>(), .extents = {}, .begin = 0, .end = 0};
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
static void check_coverage(const std::string& path, const std::map<std::string, SafetensorsEntry>& entries,
                           std::uint64_t data_bytes) {
  std::vector<const std::pair<const std::string, SafetensorsEntry>*> order;
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
                    "none", path, covered, data_bytes, data_bytes - covered);
}

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes, const std::string& path) {
  const Json json = parse_json(path, text);
  SafetensorsHeader header;
  for (const auto& [name, value] : json.items())
    if (name == safetensors_metadata_key)
      header.metadata = parse_metadata(path, value);
    else
      header.entries.emplace(name, parse_entry(path, name, value, data_bytes));
  check_coverage(path, header.entries, data_bytes);
  return header;
}

}  // namespace gradus::nn
