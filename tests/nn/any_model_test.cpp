#include "nn/any_model.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "autograd/error.h"
#include "nn/hugging_face.h"
#include "nn/llama2c.h"
#include "nn/text/byte_tokenizer.h"
#include "tests/nn/temporary_folder.h"
#include "tests/shared_data.h"

using namespace gradus;
using namespace gradus::nn;
namespace fs = std::filesystem;

static Decoder small(std::size_t vocab_size = 256) {
  Decoder decoder({.vocab_size = vocab_size, .width = 8, .n_layers = 1, .n_heads = 2, .n_kv_heads = 1, .hidden = 8, .context_length = 8});
  Rng rng(1);
  initialise(decoder, rng);
  return decoder;
}

static std::string refusal(const auto& action) {
  try {
    action();
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a model is found in each of its forms, with its settings and its tokenizer") {
  const TemporaryFolder folder;
  const Decoder decoder = small();
  const ByteTokenizer bytes;
  save_model(folder / "run/step-1", decoder, bytes);
  folder.write("run/latest", "step-1\n");
  write_hugging_face(folder / "hf", decoder, &bytes);
  write_llama2c(folder / "model.bin", decoder);
  CHECK(form_of(folder / "run") == ModelForm::gradus);
  CHECK(form_of(folder / "hf") == ModelForm::hugging_face);
  CHECK(form_of(folder / "model.bin") == ModelForm::llama2c);
  for (const char* name : {"run", "run/step-1", "hf"}) {
    const Model model = load_any(folder / name);
    CHECK(model.tokenizer->vocab_size() == 256);
    CHECK(std::ranges::equal(model.decoder.embedding.weight.values(), decoder.embedding.weight.values(), {},
                             [](Real x) { return static_cast<float>(x); }, [](Real x) { return static_cast<float>(x); }));
  }
  CHECK(read_any_config(folder / "model.bin").width == 8);
  CHECK(load_any(folder / "model.bin", folder / "hf").tokenizer->vocab_size() == 256);
}

TEST_CASE("the shared models are found with their tokenizers") {
  if (absent()) return;
  CHECK(load_any(data / "stories260K/stories260K.bin").tokenizer->name() == "llama2c");
  CHECK(load_any(data / "stories260K/hf").tokenizer->vocab_size() == 512);
  CHECK(load_any(data / "story656k-hf").tokenizer->vocab_size() == 2048);
  CHECK(load_any(data / "story656k-hf-bf16", data / "story656k-hf").tokenizer->vocab_size() == 2048);
}

TEST_CASE("what is no model is refused with what would be one") {
  const TemporaryFolder folder;
  const auto at = [&](const std::string& name) { return (folder / name).string(); };
  CHECK(refusal([&] { load_any(folder / "none"); }) == at("none") + ": expected a model, found no such file or folder");
  CHECK(refusal([&] { load_any(folder.path()); }) == at("config.json") + ": expected a model's settings, found: No such file or directory");
  folder.write("model.safetensors", "{}");
  CHECK(refusal([&] { load_any(folder / "model.safetensors"); }) ==
        at("model.safetensors") + ": expected a model, found one of its files; name the folder that it is in");
  folder.write("config.json", "{}");
  CHECK(refusal([&] { load_any(folder.path()); }) == at("config.json") + ": expected \"format\": \"gradus\" or a Hugging Face model's "
        "\"architectures\", found neither");
  folder.write("config.json", R"({"architectures": ["GPT2LMHeadModel"]})");
  CHECK(form_of(folder.path()) == ModelForm::gpt2);
  CHECK(refusal([&] { load_any(folder.path(), "bytes"); }) == folder.path().string() + ": expected a decoder of the LLaMA family, found a "
        "GPT-2; it can write, be described and be compared, and nothing else");
}

TEST_CASE("a checkpoint's tokenizer is taken from beside it only where there is one") {
  const TemporaryFolder folder;
  write_llama2c(folder / "model.bin", small());
  const std::string path = (folder / "model.bin").string();
  const auto found = [&](const std::string& count) {
    return path + ": expected one tokenizer beside it, tokenizer.bin or the like, found " + count + "; say which with --tokenizer FILE";
  };
  CHECK(refusal([&] { load_any(folder / "model.bin"); }) == found("0"));
  folder.write("tokenizer.bin", "");
  folder.write("tok512.bin", "");
  CHECK(refusal([&] { load_any(folder / "model.bin"); }) == found("2"));
}

TEST_CASE("a tokenizer with more tokens than the model has rows is refused, with fewer only by a llama2.c checkpoint") {
  const TemporaryFolder folder;
  const Decoder more = small(300);
  const ByteTokenizer bytes;
  write_hugging_face(folder / "hf", more, &bytes);
  CHECK_NOTHROW(load_any(folder / "hf"));
  write_llama2c(folder / "model.bin", more);
  CHECK(refusal([&] { load_any(folder / "model.bin", "bytes"); }) ==
        "bytes: the tokenizer has 256 tokens and " + (folder / "model.bin").string() +
            " has a vocab_size of 300; they do not belong together");
}

TEST_CASE("a Hugging Face folder's chat template is recognised by its words, and another is none") {
  const TemporaryFolder folder;
  const ByteTokenizer bytes;
  write_hugging_face(folder / "hf", small(), &bytes);
  CHECK(load_any(folder / "hf").decoder.config.chat_template == "none");
  folder.write("hf/tokenizer_config.json", R"({"chat_template": "{{ '<|im_start|>' + role }}<|im_end|>"})");
  CHECK(load_any(folder / "hf").decoder.config.chat_template == "chatml");
  folder.write("hf/tokenizer_config.json", R"({"chat_template": "### Human"})");
  CHECK(load_any(folder / "hf").decoder.config.chat_template == "none");
}
