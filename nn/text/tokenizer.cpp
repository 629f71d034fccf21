#include "nn/text/tokenizer.h"

#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"
#include "nn/text/hugging_face_tokenizer.h"
#include "nn/text/tokenizer_json.h"

namespace gradus::nn {

using Json = nlohmann::json;

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

static std::unique_ptr<Tokenizer> read_bpe(const Json& file, std::string_view path) {
  BpeModel model = read_hugging_face_tokenizer(file, path);
  try {
    return std::make_unique<BpeTokenizer>(std::move(model));
  } catch (const ShapeError& error) {
    throw FileError(message("{}: expected a vocabulary and its merges, found a fault: {}", path, error.what()));
  }
}

std::unique_ptr<Tokenizer> tokenizer_from_json(std::string_view text, std::string_view path) {
  const Json file = parse_tokenizer_json(text, path);
  if (file.contains("model")) return read_bpe(file, path);
  const auto type = file.find("type");
  expect<FileError>(type != file.end(), "{}: expected \"type\" to be \"bytes\" or \"chars\", or a \"model\" as "
                    "Hugging Face's files have it, found neither", path);
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
