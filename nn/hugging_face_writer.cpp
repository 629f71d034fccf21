#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/atomic_file.h"
#include "nn/hugging_face.h"
#include "nn/text/as_bpe.h"
#include "nn/with_pairing.h"

namespace gradus::nn {

using Json = nlohmann::ordered_json;
using Path = std::filesystem::path;

static void write_text(const Path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

static Json generation_config(const TextEnds& ends) {
  Json json = Json::object();
  if (ends.begin >= 0) json["bos_token_id"] = ends.begin;
  if (ends.end >= 0) json["eos_token_id"] = ends.end;
  return json;
}

static Json tokenizer_config(const BpeTokenizer& tokenizer, const TextEnds& ends, std::size_t context) {
  Json json = {{"tokenizer_class", "PreTrainedTokenizerFast"}};
  if (ends.begin >= 0) json["bos_token"] = tokenizer.model().spellings[ends.begin];
  if (ends.end >= 0) json["eos_token"] = tokenizer.model().spellings[ends.end];
  json["clean_up_tokenization_spaces"] = false;
  json["model_max_length"] = context;
  return json;
}

void write_hugging_face(const Path& folder, const Decoder& decoder, const Tokenizer* tokenizer, FloatFormat format) {
  TextEnds ends;
  std::optional<BpeTokenizer> bpe;
  if (tokenizer != nullptr) {
    bpe.emplace(as_bpe(*tokenizer));
    ends = {.begin = bpe->begin_token().value_or(-1), .end = bpe->end_token().value_or(-1)};
  }
  const std::string config = config_to_hugging_face(decoder.config, ends, format);
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  expect<FileError>(!problem, "{}: the folder cannot be made: {}", folder.string(), problem.message());

  std::vector<NamedTensor> tensors;
  for (const Parameter& parameter : parameters(with_pairing(RopePairing::half, decoder)))
    tensors.push_back({hugging_face_name(parameter.name), parameter.tensor});
  write_text(folder / "config.json", config);
  write_text(folder / "generation_config.json", generation_config(ends).dump(2) + "\n");
  if (bpe) {
    write_text(folder / "tokenizer.json", bpe->to_json());
    const Json settings = tokenizer_config(*bpe, ends, decoder.config.context_length);
    write_text(folder / "tokenizer_config.json", settings.dump(2) + "\n");
  }
  write_safetensors(folder / "model.safetensors", tensors, {}, format);
}

}  // namespace gradus::nn
