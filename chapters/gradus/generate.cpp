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

static void write_table(const GenerateOptions& options, const nn::Model& model, const Prompt& prompt) {
  std::vector<double> distribution;
  const nn::Sampler look = [&](std::span<const Real> logits, std::span<const int> context) {
    distribution = nn::next_distribution(logits, filters_of(options), context);
    return nn::argmax(distribution);
  };
  nn::generate(model.decoder, prompt.ids, {.tokens = 1}, look);
  write(next_token_table(distribution, options.top, *model.tokenizer));
}

static void write_sample(const GenerateOptions& options, const nn::Model& model, const Prompt& prompt,
                         const nn::Sampler& sampler) {
  nn::TextStream stream(*model.tokenizer, prompt.ids, options.stops);
  const nn::GenerateOptions settings{.tokens = options.tokens,
                                     .end_token = model.tokenizer->end_token(),
                                     .ignore_end = options.ignore_end,
                                     .stop = [&](std::size_t) { return stream.stopped(); },
                                     .cache = !options.no_cache};
  const auto show = [&](std::string_view text) {
    if (!options.dump_ids) write(text);
  };
  show(prompt.text);
  Speed speed;
  const std::vector<int> ids = nn::generate(model.decoder, prompt.ids, settings, sampler, [&](int id) {
    if (!options.ignore_end && id == settings.end_token) return;
    speed.token();
    show(stream.push(id));
  });
  show(stream.flush() + "\n");
  if (options.dump_ids) write(line_of_ids(ids));
  say(speed.line(std::min(prompt.ids.size(), model.decoder.config.context_length)));
}

void generate(const GenerateOptions& options) {
  if (options.threads != 0) set_thread_count(options.threads);
  nn::Model model = nn::load_any(options.model, options.tokenizer);
  if (!options.attention.empty()) model.decoder.set_attention(nn::attention_kind(options.attention));
  const Prompt prompt = prompt_of(options, *model.tokenizer);
  tell_of_context(prompt.ids.size(), options.top > 0 ? 0 : options.tokens, model.decoder.config.context_length);
  if (options.top > 0) return write_table(options, model, prompt);

  std::optional<nn::AtomicFile> logits;
  if (!options.dump_logits.empty()) logits.emplace(options.dump_logits);
  if (options.dump_ids) write(line_of_ids(prompt.ids));
  for (std::size_t sample = 0; sample < options.samples; ++sample) {
    if (options.samples > 1 && !options.dump_ids) write(message("--- sample {} of {}\n", sample + 1, options.samples));
    nn::Sampler sampler = sampler_of(options, sample);
    if (logits) sampler = dumping(std::move(sampler), *logits);
    write_sample(options, model, prompt, sampler);
  }
  if (logits) logits->commit();
}

}  // namespace gradus::tool
