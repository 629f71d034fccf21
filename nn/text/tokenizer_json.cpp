#include "nn/text/tokenizer_json.h"

#include <nlohmann/json.hpp>

#include "autograd/error.h"

namespace gradus::nn {

using Json = nlohmann::json;

Json parse_tokenizer_json(std::string_view text, std::string_view path) {
  constexpr int deepest = 32;
  const auto check_depth = [&](int depth, Json::parse_event_t, const Json&) {
    expect<FileError>(depth <= deepest, "{}: expected a tokenizer in JSON, found more than {} levels of nesting", path,
                      deepest);
    return true;
  };
  Json file;
  try {
    file = Json::parse(text, check_depth);
  } catch (const Json::parse_error& error) {
    throw FileError(
        message("{}: expected a tokenizer in JSON, found text that is not JSON at byte {}", path, error.byte));
  } catch (const Json::out_of_range&) {
    throw FileError(message("{}: expected a tokenizer in JSON, found a number that is too large", path));
  }
  expect<FileError>(file.is_object(), "{}: expected a tokenizer as a JSON object, found {}", path, file.type_name());
  return file;
}

std::string shown(const Json& value) {
  constexpr std::size_t longest = 400;
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > longest) text = text.substr(0, longest) + " …";
  return text;
}

}  // namespace gradus::nn
