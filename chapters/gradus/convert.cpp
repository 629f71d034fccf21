#include "chapters/gradus/convert.h"

#include <cstdio>
#include <filesystem>

#include "autograd/error.h"
#include "nn/any_model.h"
#include "nn/hugging_face.h"
#include "nn/llama2c.h"
#include "nn/text/as_bpe.h"

namespace gradus::tool {

using Path = std::filesystem::path;

static void say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

// A model may be passed on without its tokenizer, where neither form needs one.
static std::unique_ptr<nn::Tokenizer> tokenizer_of(const ConvertOptions& options, nn::ModelForm target) {
  try {
    return nn::load_any_tokenizer(options.in, options.tokenizer);
  } catch (const FileError& problem) {
    if (target == nn::ModelForm::gradus || !options.tokenizer.empty()) throw;
    say(message("without a tokenizer: {}", problem.what()));
    return nullptr;
  }
}

static void write_llama2c(const ConvertOptions& options, nn::ModelForm source, const nn::Tokenizer* tokenizer) {
  const Path out = options.out, words = out.parent_path() / "tokenizer.bin";
  expect<FileError>(tokenizer == nullptr || !std::filesystem::exists(words), "{}: there is a tokenizer already; write "
                    "the model into another folder", words.string());
  nn::Llama2cTables tables;  // those of the file, so that it comes out as it went in
  const nn::Decoder decoder = source == nn::ModelForm::llama2c ? nn::read_llama2c(options.in, &tables)
                                                               : nn::load_any_decoder(options.in);
  nn::write_llama2c(out, decoder, tables);
  if (tokenizer == nullptr) return;
  try {
    nn::write_llama2c_tokenizer(words, *tokenizer);
  } catch (const ShapeError& problem) {
    say(message("without a tokenizer: {}", problem.what()));
  }
}

void convert(const ConvertOptions& options) {
  nn::ModelForm target{};
  nn::from_word(options.to, target);
  nn::FloatFormat format{};
  nn::from_word(options.dtype, format);
  expect(target != nn::ModelForm::llama2c || format == nn::FloatFormat::f32, "convert: llama2.c's files have f32 only");
  expect<FileError>(!std::filesystem::exists(options.out), "{}: is there already; name a new one", options.out);

  const nn::ModelForm source = nn::form_of(options.in);
  const std::unique_ptr<nn::Tokenizer> tokenizer = tokenizer_of(options, target);
  if (target == nn::ModelForm::llama2c)
    write_llama2c(options, source, tokenizer.get());
  else if (target == nn::ModelForm::hugging_face)
    nn::write_hugging_face(options.out, nn::load_any_decoder(options.in), tokenizer.get(), format);
  else
    nn::save_model(options.out, nn::load_any_decoder(options.in), *tokenizer, format);
  say(message("{} ({}) → {} ({})", options.in, nn::word_of(source), options.out, nn::word_of(target)));
}

}  // namespace gradus::tool
