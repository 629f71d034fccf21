#include "nn/text/tokenizer.h"

#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"

namespace gradus::nn {

using Json = nlohmann::json;

static Json parse_object(std::string_view text, std::string_view path) {
  Json file;
  try {
    file = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw FileError(
        message("{}: expected a tokenizer in JSON, found text that is not JSON at byte {}", path, error.byte));
  }
  expect<FileError>(file.is_object(), "{}: expected a tokenizer as a JSON object, found {}", path, file.type_name());
  return file;
}

static std::vector<std::string> read_vocabulary(const Json& file, std::string_view path) {
  const auto list = file.find("vocabulary");
  expect<FileError>(list != file.end(), "{}: expected \"vocabulary\", a list of characters, found no such field", path);
  expect<FileError>(list->is_array(), "{}: expected \"vocabulary\" to be a list of characters, found {}", path,
                    list->type_name());
  std::vector<std::string> vocabulary;
  for (const Json& entry : *list) {
    expect<FileError>(entry.is_string(), "{}: expected entry {} of \"vocabulary\" to be a string, found {}", path,
                      vocabulary.size(), entry.type_name());
    vocabulary.push_back(entry.get<std::string>());
  }
  return vocabulary;
}

std::unique_ptr<Tokenizer> tokenizer_from_json(std::string_view text, std::string_view path) {
  const Json file = parse_object(text, path);
  const auto type = file.find("type");
  expect<FileError>(type != file.end(), "{}: expected \"type\" to be \"bytes\" or \"chars\", found no such field",
                    path);
  if (*type == "bytes") return std::make_unique<ByteTokenizer>();
  expect<FileError>(*type == "chars", "{}: expected \"type\" to be \"bytes\" or \"chars\", found {}", path,
                    type->dump());
  try {
    return std::make_unique<CharTokenizer>(read_vocabulary(file, path));
  } catch (const ShapeError& error) {
    throw FileError(message("{}: expected a vocabulary of characters, found a fault: {}", path, error.what()));
  }
}

std::string json_string(std::string_view text) { return Json(text).dump(); }

}  // namespace gradus::nn
