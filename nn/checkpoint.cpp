#include "nn/checkpoint.h"

#include <fstream>
#include <iterator>

#include "autograd/error.h"
#include "nn/atomic_file.h"
#include "nn/config_file.h"
#include "nn/weight_files.h"

namespace gradus::nn {

static void write_text(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

static std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  expect<FileError>(file.good() && std::filesystem::is_regular_file(path),
                    "{}: cannot be read; a model is a folder with it", path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void save_model(const std::filesystem::path& folder, const Decoder& decoder, const Tokenizer& tokenizer,
                FloatFormat format) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  expect<FileError>(!problem, "{}: the folder cannot be made: {}", folder.string(), problem.message());
  write_text(folder / "config.json", config_to_json(decoder.config));
  write_text(folder / "tokenizer.json", tokenizer.to_json());
  write_safetensors(folder / "model.safetensors", parameters(decoder), {}, format);
}

std::filesystem::path resolve_checkpoint(const std::filesystem::path& folder) {
  const std::filesystem::path pointer = folder / "latest";
  if (!std::filesystem::is_regular_file(pointer)) return folder;
  std::string name = read_text(pointer);
  while (!name.empty() && (name.back() == '\n' || name.back() == '\r')) name.pop_back();
  expect<FileError>(!name.empty() && name == std::filesystem::path(name).filename() &&
                        std::filesystem::is_directory(folder / name),
                    "{}: names \"{}\", which is no folder beside it; write the name of a checkpoint there, as in "
                    "step-000200",
                    pointer.string(), name);
  return folder / name;
}

static std::filesystem::path folder_of(const std::filesystem::path& path) {
  expect<FileError>(std::filesystem::is_directory(path), "{}: no such folder; `gradus train --out DIR` makes one",
                    path.string());
  return resolve_checkpoint(path);
}

Decoder load_decoder(const std::filesystem::path& path) {
  const std::filesystem::path folder = folder_of(path);
  const Config config = read_config(folder / "config.json");
  const WeightFiles files(folder);
  expect_tensors(files, config.parameter_table(), folder / "config.json", [](const std::string& name) { return name; });
  Decoder decoder(config);
  for (Parameter parameter : parameters(decoder)) files.read_into(parameter.name, parameter.tensor);
  return decoder;
}

Model load_model(const std::filesystem::path& path) {
  const std::filesystem::path folder = folder_of(path), words = folder / "tokenizer.json";
  Model model{load_decoder(folder), tokenizer_from_json(read_text(words), words.string())};
  const std::size_t tokens = model.tokenizer->vocab_size(), rows = model.decoder.config.vocab_size;
  expect<FileError>(tokens == rows, "{}: the tokenizer has {} tokens and the model's vocab_size is {}; they are not from "
                    "the same training", folder.string(), tokens, rows);
  return model;
}

}  // namespace gradus::nn
