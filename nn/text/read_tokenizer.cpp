#include "nn/text/read_tokenizer.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/gpt2_tokenizer.h"
#include "nn/text/llama2c_tokenizer.h"
#include "nn/text/text_file.h"
#include "nn/text/tokenizer_json.h"

namespace gradus::nn {

using Path = std::filesystem::path;

// llama2.c's files do not say how many pieces they have: they are counted from one length to the next.
static std::size_t count_pieces(const Path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::uint32_t longest = 0;
  stream.read(reinterpret_cast<char*>(&longest), sizeof longest);
  std::size_t pieces = 0;
  struct {
    float score;
    std::uint32_t length;
  } head;
  while (stream.read(reinterpret_cast<char*>(&head), sizeof head)) {
    stream.seekg(head.length, std::ios::cur);
    ++pieces;
  }
  return pieces;
}

// The end token that tokenizer_config.json names, as a string or as an object with its "content".
static std::unique_ptr<Tokenizer> with_end_token(std::unique_ptr<Tokenizer> tokenizer, const Path& path) {
  const auto* bpe = dynamic_cast<const BpeTokenizer*>(tokenizer.get());
  if (!bpe || !std::filesystem::exists(path)) return tokenizer;
  const nlohmann::json config = parse_tokenizer_json(read_text_file(path, "a tokenizer's settings"), path.string());
  nlohmann::json name = config.value("eos_token", nlohmann::json());
  if (name.is_object()) name = name.value("content", nlohmann::json());
  if (name.is_null()) return tokenizer;
  for (const SpecialToken& token : bpe->special_tokens()) {
    if (name != token.text) continue;
    BpeModel model = bpe->model();
    model.end = token.id;
    return std::make_unique<BpeTokenizer>(std::move(model));
  }
  throw FileError(message("{}: expected \"eos_token\" to be a special token of the tokenizer beside it, found {}",
                          path.string(), shown(name)));
}

static std::unique_ptr<Tokenizer> read_json(const Path& path) {
  return tokenizer_from_json(read_text_file(path, "a tokenizer"), path.string());
}

static std::unique_ptr<Tokenizer> read_gpt2(const Path& vocabulary) {
  std::string merges = vocabulary.filename().string();
  merges.replace(merges.size() - std::string_view("vocab.json").size(), merges.npos, "merges.txt");
  return std::make_unique<BpeTokenizer>(read_gpt2_tokenizer(vocabulary, vocabulary.parent_path() / merges));
}

static std::unique_ptr<Tokenizer> read_llama2c(const Path& path) {
  return std::make_unique<Llama2cTokenizer>(path, count_pieces(path));
}

std::unique_ptr<Tokenizer> read_tokenizer(const std::string& place) {
  if (place == "bytes") return std::make_unique<ByteTokenizer>();
  const Path path = place;
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) {
    if (exists(path / "tokenizer.json"))
      return with_end_token(read_json(path / "tokenizer.json"), path / "tokenizer_config.json");
    if (exists(path / "vocab.json")) return read_gpt2(path / "vocab.json");
    if (exists(path / "tokenizer.bin")) return read_llama2c(path / "tokenizer.bin");
    throw FileError(
        message("{}: expected a folder with tokenizer.json, vocab.json or tokenizer.bin, found none of them", place));
  }
  expect<FileError>(exists(path, problem),
                    "{}: expected a tokenizer's file or folder, or the word bytes, found no such file", place);
  if (place.ends_with("vocab.json")) return read_gpt2(path);
  return path.extension() == ".bin" ? read_llama2c(path) : read_json(path);
}

}  // namespace gradus::nn
