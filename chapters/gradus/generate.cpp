#include "chapters/gradus/generate.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "autograd/error.h"
#include "autograd/parallel.h"
#include "nn/checkpoint.h"
#include "nn/text/generate.h"
#include "nn/text/utf8.h"

namespace gradus::tool {

static std::string prompt_of(const GenerateOptions& options) {
  if (options.prompt_file.empty()) return options.prompt.empty() ? "\n" : options.prompt;
  std::ifstream file(options.prompt_file, std::ios::binary);
  expect<FileError>(file.good(), "{}: the prompt cannot be read", options.prompt_file);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  expect<FileError>(!text.empty(), "{}: the prompt is empty; there must be something to continue", options.prompt_file);
  return text;
}

static void write(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void generate(const GenerateOptions& options) {
  if (options.threads != 0) set_thread_count(options.threads);
  nn::Model model = nn::load_model(options.model);
  if (!options.attention.empty()) model.decoder.set_attention(nn::attention_kind(options.attention));
  const std::string prompt = prompt_of(options);
  const std::vector<int> ids = model.tokenizer->encode(prompt);

  const nn::GenerateOptions settings{
      .tokens = options.tokens,
      .sampler = {.temperature = options.temperature, .top_k = options.top_k, .top_p = options.top_p,
                  .min_p = options.min_p, .repetition_penalty = options.repetition_penalty},
      .end_token = model.tokenizer->end_token(),
      .cache = !options.no_cache};
  Rng rng(options.seed);
  nn::Utf8Stream stream;
  write(prompt);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<int> written = nn::generate(model.decoder, ids, settings, rng, [&](int id) {
    if (id != settings.end_token) write(stream.push(model.tokenizer->decode(std::span(&id, 1))));
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write(stream.flush());
  write("\n");
  std::fprintf(stderr, "%zu tokens, %.0f tokens/s\n", written.size(), static_cast<double>(written.size()) / seconds);
}

}  // namespace gradus::tool
