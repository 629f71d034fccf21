#include "nn/any_model.h"

#include <array>
#include <vector>

#include "autograd/error.h"
#include "nn/config_file.h"
#include "nn/hugging_face.h"
#include "nn/hugging_face_gpt2.h"
#include "nn/json_settings.h"
#include "nn/llama2c.h"
#include "nn/text/chat_template.h"
#include "nn/text/read_tokenizer.h"
#include "nn/text/text_file.h"
#include "nn/words.h"

namespace gradus::nn {

using Path = std::filesystem::path;

static constexpr std::array decoder_forms = {Word{ModelForm::gradus, "gradus"}, Word{ModelForm::hugging_face, "hf"},
                                             Word{ModelForm::llama2c, "llama2c"}};

std::string_view word_of(ModelForm form) { return form == ModelForm::gpt2 ? "gpt2" : word_in(decoder_forms, form); }
void from_word(std::string_view word, ModelForm& form) { choose("form of a model", decoder_forms, word, form); }

ModelForm form_of(const Path& path) {
  std::error_code problem;
  if (!std::filesystem::is_directory(path, problem)) {
    expect<FileError>(std::filesystem::exists(path, problem), "{}: expected a model, found no such file or folder",
                      path.string());
    expect<FileError>(path.extension() != ".safetensors" && path.extension() != ".json", "{}: expected a model, found one "
                      "of its files; name the folder that it is in", path.string());
    return ModelForm::llama2c;
  }
  const Path config = resolve_checkpoint(path) / "config.json";
  const JsonSettings settings(read_text_file(config, "a model's settings"), config.string());
  if (settings.has("format")) return ModelForm::gradus;
  expect<FileError>(settings.has("architectures"), "{}: expected \"format\": \"gradus\" or a Hugging Face model's "
                    "\"architectures\", found neither", config.string());
  const bool is_gpt2 = settings.texts("architectures") == std::vector<std::string>{"GPT2LMHeadModel"};
  return is_gpt2 ? ModelForm::gpt2 : ModelForm::hugging_face;
}

[[noreturn]] static void refuse_gpt2(const Path& path) {
  throw FileError(message("{}: expected a decoder of the LLaMA family, found a GPT-2; it can write, be described "
                          "and be compared, and nothing else", path.string()));
}

Config read_any_config(const Path& path) {
  switch (form_of(path)) {
    case ModelForm::gradus: return read_config(resolve_checkpoint(path) / "config.json");
    case ModelForm::hugging_face: return read_hugging_face_config(resolve_checkpoint(path) / "config.json");
    case ModelForm::gpt2: refuse_gpt2(path);
    case ModelForm::llama2c: break;
  }
  return read_llama2c_config(path);
}

Decoder load_any_decoder(const Path& path) {
  switch (form_of(path)) {
    case ModelForm::gradus: return load_decoder(path);
    case ModelForm::hugging_face: return read_hugging_face(resolve_checkpoint(path));
    case ModelForm::gpt2: refuse_gpt2(path);
    case ModelForm::llama2c: break;
  }
  return read_llama2c(path);
}

static bool is_hub(ModelForm form) { return form == ModelForm::hugging_face || form == ModelForm::gpt2; }

static std::size_t vocab_size_of(const Path& path) {
  return form_of(path) == ModelForm::gpt2 ? read_hugging_face_gpt2_config(path / "config.json").vocab_size
                                          : read_any_config(path).vocab_size;
}

std::vector<int> end_tokens_of(const Path& path) {
  const ModelForm form = form_of(path);
  return is_hub(form) ? read_hugging_face_ends(resolve_checkpoint(path), vocab_size_of(path)) : std::vector<int>();
}

LanguageModel load_language_model(const Path& path, std::optional<AttentionKind> attention) {
  const auto with_attention = [&](auto model) {
    if (attention) model.set_attention(*attention);
    return LanguageModel(model);
  };
  return form_of(path) == ModelForm::gpt2 ? with_attention(read_hugging_face_gpt2(path)) : with_attention(load_any_decoder(path));
}

// tokenizer.bin, tok512.bin, …: the only one.
static Path tokenizer_beside(const Path& checkpoint) {
  const Path folder = checkpoint.has_parent_path() ? checkpoint.parent_path() : ".";
  std::vector<Path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("tok") && name.ends_with(".bin") && name != checkpoint.filename()) found.push_back(entry.path());
  }
  expect<FileError>(found.size() == 1, "{}: expected one tokenizer beside it, tokenizer.bin or the like, found {}; say "
                    "which with --tokenizer FILE", checkpoint.string(), found.size());
  return found[0];
}

std::unique_ptr<Tokenizer> load_any_tokenizer(const Path& path, const Path& tokenizer_path) {
  const ModelForm form = form_of(path);
  const Path place = !tokenizer_path.empty()      ? tokenizer_path
                     : form == ModelForm::llama2c ? tokenizer_beside(path)
                                                  : resolve_checkpoint(path);
  const std::size_t rows = vocab_size_of(path);
  std::unique_ptr<Tokenizer> tokenizer = read_tokenizer(place.string());
  const std::size_t tokens = tokenizer->vocab_size();
  // Some of the hub's models have more rows than tokens, to a round number.
  expect<FileError>(tokens == rows || (tokens < rows && is_hub(form)), "{}: the tokenizer has {} "
                    "tokens and {} has a vocab_size of {}; they do not belong together", place.string(), tokens, path.string(), rows);
  return tokenizer;
}

// A template in Jinja is recognised and not run; a model with one that is none of ours is a model without.
static std::string template_of(const Path& folder) {
  const Path path = folder / "tokenizer_config.json";
  if (!std::filesystem::exists(path)) return std::string(word_of(ChatTemplate::none));
  const JsonSettings settings(read_text_file(path, "a tokenizer's settings"), path.string());
  if (!settings.has("chat_template")) return std::string(word_of(ChatTemplate::none));
  try {
    return std::string(word_of(recognise_chat_template(settings.text("chat_template"))));
  } catch (const ShapeError&) {
    return std::string(word_of(ChatTemplate::none));
  }
}

Model load_any(const Path& path, const Path& tokenizer_path) {
  if (form_of(path) == ModelForm::gpt2) refuse_gpt2(path);
  std::unique_ptr<Tokenizer> tokenizer = load_any_tokenizer(path, tokenizer_path);
  Model model{load_any_decoder(path), std::move(tokenizer)};
  if (form_of(path) == ModelForm::hugging_face) model.decoder.config.chat_template = template_of(resolve_checkpoint(path));
  return model;
}

}  // namespace gradus::nn
