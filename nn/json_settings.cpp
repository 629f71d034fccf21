#include "nn/json_settings.h"

#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/json_text.h"

namespace gradus::nn {

using Json = nlohmann::json;

JsonSettings::JsonSettings(std::string_view text, const std::string& path)
    : json_(std::make_shared<const Json>(parse_json(text))), path_(path) {
  expect<FileError>(json_->is_object(), "{}: expected a JSON object with the model's settings, found {}", path,
                    json_->is_discarded() ? "text that is not JSON" : json_->type_name());
}

JsonSettings::JsonSettings(std::shared_ptr<const Json> json, std::string path, std::string prefix)
    : json_(std::move(json)), path_(std::move(path)), prefix_(std::move(prefix)) {}

bool JsonSettings::has(const std::string& name) const {
  const auto found = json_->find(name);
  return found != json_->end() && !found->is_null();
}

std::vector<std::string> JsonSettings::names() const {
  std::vector<std::string> names;
  for (const auto& item : json_->items()) names.push_back(item.key());
  return names;
}

std::string JsonSettings::shown(const std::string& name) const {
  const std::string text = has(name) ? (*json_)[name].dump() : "null";
  return text.size() <= 80 ? text : text.substr(0, 80) + " …";
}

const Json& JsonSettings::value(const std::string& name, std::string_view kind) const {
  expect<FileError>(has(name), "{}: expected {}{} to be {}, found no such setting", path_, prefix_, name, kind);
  return (*json_)[name];
}

void JsonSettings::wrong(const std::string& name, std::string_view kind) const {
  throw FileError(message("{}: expected {}{} to be {}, found {}", path_, prefix_, name, kind, shown(name)));
}

void JsonSettings::refuse(const std::string& name, std::string_view reason) const {
  throw FileError(message("{}: {}{} is {}: {}", path_, prefix_, name, shown(name), reason));
}

std::size_t JsonSettings::count(const std::string& name) const {
  constexpr std::string_view kind = "a whole number of 0 or more";
  const Json& json = value(name, kind);
  if (!json.is_number_unsigned()) wrong(name, kind);
  return json.get<std::size_t>();
}

std::vector<std::size_t> JsonSettings::counts(const std::string& name) const {
  constexpr std::string_view kind = "a whole number of 0 or more, or a list of them";
  const Json& json = value(name, kind);
  const Json list = json.is_array() ? json : Json::array({json});
  std::vector<std::size_t> numbers;
  for (const Json& each : list) {
    if (!each.is_number_unsigned()) wrong(name, kind);
    numbers.push_back(each.get<std::size_t>());
  }
  return numbers;
}

double JsonSettings::number(const std::string& name) const {
  const Json& json = value(name, "a number");
  if (!json.is_number()) wrong(name, "a number");
  return json.get<double>();
}

bool JsonSettings::flag(const std::string& name, bool otherwise) const {
  if (!has(name)) return otherwise;
  if (!(*json_)[name].is_boolean()) wrong(name, "true or false");
  return (*json_)[name].get<bool>();
}

std::string JsonSettings::text(const std::string& name) const {
  const Json& json = value(name, "a text");
  if (!json.is_string()) wrong(name, "a text");
  return json.get<std::string>();
}

std::vector<std::string> JsonSettings::texts(const std::string& name) const {
  constexpr std::string_view kind = "a list of texts";
  const Json& json = value(name, kind);
  if (!json.is_array()) wrong(name, kind);
  std::vector<std::string> list;
  for (const Json& each : json) {
    if (!each.is_string()) wrong(name, kind);
    list.push_back(each.get<std::string>());
  }
  return list;
}

JsonSettings JsonSettings::section(const std::string& name) const {
  const Json& json = value(name, "an object");
  if (!json.is_object()) wrong(name, "an object");
  return {std::make_shared<const Json>(json), path_, prefix_ + name + "."};
}

}  // namespace gradus::nn
