#include "nn/config_file.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "autograd/error.h"
#include "nn/json_text.h"

namespace gradus::nn {

using Json = nlohmann::json;

// Settings that older folders do not have: where one is missing it has its default.
static const std::set<std::string> added_later{"chat_template"};

// A folder of ours says so, because other projects' models have a config.json too.
static constexpr const char* format_name = "gradus";

std::string config_to_json(const Config& config) {
  nlohmann::ordered_json json;
  json["format"] = format_name;
  Config::fields(config, [&](const char* name, const auto& value) {
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>)
      json[name] = word_of(value);
    else
      json[name] = value;
  });
  return json.dump(2) + "\n";
}

static void read_field(const std::string& path, const char* name, const Json& json, std::size_t& value) {
  expect<FileError>(json.is_number_unsigned(), "{}: {} must be a whole number of 0 or more, not {}", path, name,
                    json.dump());
  value = json.get<std::size_t>();
}

static void read_field(const std::string& path, const char* name, const Json& json, double& value) {
  expect<FileError>(json.is_number(), "{}: {} must be a number, not {}", path, name, json.dump());
  value = json.get<double>();
}

static void read_field(const std::string& path, const char* name, const Json& json, bool& value) {
  expect<FileError>(json.is_boolean(), "{}: {} must be true or false, not {}", path, name, json.dump());
  value = json.get<bool>();
}

static void read_field(const std::string& path, const char* name, const Json& json, std::string& value) {
  expect<FileError>(json.is_string(), "{}: {} must be a text, not {}", path, name, json.dump());
  value = json.get<std::string>();
}

template <class Choice>
  requires std::is_enum_v<Choice>
static void read_field(const std::string& path, const char* name, const Json& json, Choice& value) {
  expect<FileError>(json.is_string(), "{}: {} must be a text, not {}", path, name, json.dump());
  from_word(json.get<std::string>(), value);
}

Config config_from_json(std::string_view text, const std::string& path) {
  const Json json = parse_json(text);
  expect<FileError>(json.is_object(), "{}: not a JSON object", path);
  expect<FileError>(json.value("format", Json()) == format_name,
                    "{}: \"format\" must be \"{}\"; this is another project's model", path, format_name);

  Config config;
  std::set<std::string> known{"format"};
  Config::fields(config, [&](const char* name, auto& value) {
    known.insert(name);
    if (!json.contains(name) && added_later.contains(name)) return;
    expect<FileError>(json.contains(name), "{}: {} is missing", path, name);
    try {
      read_field(path, name, json[name], value);
    } catch (const ShapeError& problem) {
      throw FileError(path + ": " + problem.what());
    }
  });
  for (const auto& [name, value] : json.items())
    expect<FileError>(known.contains(name), "{}: {} is not a setting", path, name);
  try {
    config.validate();
  } catch (const ShapeError& problem) {
    throw FileError(path + ": " + problem.what());
  }
  return config;
}

Config read_config(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  expect<FileError>(file.good() && std::filesystem::is_regular_file(path),
                    "{}: cannot be read; a model is a folder with config.json", path.string());
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return config_from_json(text, path.string());
}

}  // namespace gradus::nn
