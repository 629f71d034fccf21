#include "chapters/gradus/generate.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "autograd/error.h"
#include "autograd/parallel.h"
#include "chapters/gradus/next_tokens.h"
#include "chapters/gradus/speed.h"
#include "nn/any_model.h"
#include "nn/atomic_file.h"
#include "nn/text/generate.h"
#include "nn/text/llama2c_sampler.h"
#include "nn/text/text_stream.h"
#include "nn/text/utf8.h"
#include "nn/text/utf8_sampler.h"

namespace gradus::tool {

static void write(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

static void say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

namespace {

struct Prompt {
  std::string text;
  std::vector<int> ids;
};

}  // namespace

static std::string prompt_text(const GenerateOptions& options) {
  if (options.prompt_file.empty()) return options.prompt;
  if (options.prompt_file == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(options.prompt_file, std::ios::binary);
  expect<FileError>(file.good() && !std::filesystem::is_directory(options.prompt_file), "{}: the prompt cannot be read",
                    options.prompt_file);
  return {std::istreambuf_iterator<char>(file), {}};
}

static Prompt prompt_of(const GenerateOptions& options, const nn::Tokenizer& tokenizer) {
  const nn::Specials specials = options.allow_special ? nn::Specials::allowed : nn::Specials::as_text;
  const std::string text = prompt_text(options);
  const std::vector<int> ids = tokenizer.encode(text, specials);
  if (ids.empty()) return {"\n", tokenizer.encode("\n", specials)};
  return {text, ids};
}

static void tell_of_context(std::size_t prompt, std::size_t tokens, std::size_t context) {
  if (prompt > context)
    say(message("the prompt has {} tokens and the context holds {}: the model reads the last {}", prompt, context,
                context));
  else if (prompt + tokens > context)
    say(message("a prompt of {} tokens and {} new ones are more than the context of {}: once it is full, the model "
                "reads the last {} again for each token, which is slower",
                prompt, tokens, context, context));
}

static nn::SamplerOptions filters_of(const GenerateOptions& options) {
  return {.temperature = options.temperature,
          .top_k = options.top_k,
          .top_p = options.top_p,
          .min_p = options.min_p,
          .repetition_penalty = options.repetition_penalty,
          .penalty_window = options.penalty_window};
}

static nn::Sampler sampler_of(const GenerateOptions& options, std::size_t sample) {
  if (options.llama2c_random) return nn::Llama2cSampler(options.temperature, options.top_p, options.seed + sample);
  return nn::make_sampler(filters_of(options), Rng(options.seed, sample));
}

// A sampler that writes what it draws from: V floats a token, before the penalty and the temperature.
static nn::Sampler dumping(nn::Sampler sampler, nn::AtomicFile& file) {
  return [sampler = std::move(sampler), &file](std::span<const Real> logits, std::span<const int> context) {
    const std::vector<float> row(logits.begin(), logits.end());
    file.write(row.data(), row.size() * sizeof(float));
    return sampler(logits, context);
  };
}

static std::string line_of_ids(std::span<const int> ids) {
  std::string line;
  for (int id : ids) line.append(line.empty() ? "" : " ").append(std::to_string(id));
  return line.append("\n");
}

namespace {

struct Writer {
  nn::LanguageModel model;
  std::unique_ptr<nn::Tokenizer> tokenizer;
  std::vector<int> end_tokens;  // besides the tokenizer's
};

}  // namespace

static Writer writer_of(const GenerateOptions& options) {
  std::optional<nn::AttentionKind> attention;
  if (!options.attention.empty()) attention = nn::attention_kind(options.attention);
  std::unique_ptr<nn::Tokenizer> tokenizer = nn::load_any_tokenizer(options.model, options.tokenizer);
  return {nn::load_language_model(options.model, attention), std::move(tokenizer), nn::end_tokens_of(options.model)};
}

static void write_table(const GenerateOptions& options, const Writer& writer, const Prompt& prompt) {
  std::vector<double> distribution;
  const nn::Sampler look = [&](std::span<const Real> logits, std::span<const int> context) {
    distribution = nn::next_distribution(logits, filters_of(options), context);
    return nn::argmax(distribution);
  };
  nn::generate(writer.model, prompt.ids, {.tokens = 1}, nn::keep_first(look, writer.tokenizer->vocab_size()));
  write(next_token_table(distribution, options.top, *writer.tokenizer));
}

static void write_sample(const GenerateOptions& options, const Writer& writer, const Prompt& prompt,
                         const nn::Sampler& sampler) {
  nn::TextStream stream(*writer.tokenizer, prompt.ids, options.stops);
  const nn::GenerateOptions settings{.tokens = options.tokens,
                                     .end_token = writer.tokenizer->end_token(),
                                     .more_end_tokens = writer.end_tokens,
                                     .ignore_end = options.ignore_end,
                                     .stop = [&](std::size_t) { return stream.stopped(); },
                                     .cache = !options.no_cache};
  const auto show = [&](std::string_view text) {
    if (!options.dump_ids) write(text);
  };
  show(prompt.text);
  Speed speed;
  const std::vector<int> ids = nn::generate(writer.model, prompt.ids, settings, sampler, [&](int id) {
    if (settings.ends_with(id)) return;
    speed.token();
    show(stream.push(id));
  });
  show(nn::without_half_character(stream.flush()));
  show("\n");
  if (options.dump_ids) write(line_of_ids(ids));
  say(speed.line(std::min(prompt.ids.size(), writer.model.context_length)));
}

void generate(const GenerateOptions& options) {
  if (options.threads != 0) set_thread_count(options.threads);
  const Writer writer = writer_of(options);
  const Prompt prompt = prompt_of(options, *writer.tokenizer);
  tell_of_context(prompt.ids.size(), options.top > 0 ? 0 : options.tokens, writer.model.context_length);
  if (options.top > 0) return write_table(options, writer, prompt);

  std::optional<nn::AtomicFile> logits;
  if (!options.dump_logits.empty()) logits.emplace(options.dump_logits);
  if (options.dump_ids) write(line_of_ids(prompt.ids));
  for (std::size_t sample = 0; sample < options.samples; ++sample) {
    if (options.samples > 1 && !options.dump_ids) write(message("--- sample {} of {}\n", sample + 1, options.samples));
    nn::Sampler sampler = nn::keep_first(sampler_of(options, sample), writer.tokenizer->vocab_size());
    if (options.valid_utf8) sampler = nn::keep_utf8(std::move(sampler), *writer.tokenizer);
    if (logits) sampler = dumping(std::move(sampler), *logits);
    write_sample(options, writer, prompt, sampler);
  }
  if (logits) logits->commit();
}

}  // namespace gradus::tool
