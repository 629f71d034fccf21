// Chapter 14: which token comes next, and how not to read the whole text again for it.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>

#include "nn/decoder.h"
#include "nn/kv_cache.h"
#include "nn/text/generate.h"

using namespace gradus;
using namespace gradus::nn;

static const char* const words[] = {"cat", "dog", "owl", "fox", "hen", "bee", "gnu", "yak"};
static const LogitRow logits = {3.0, 2.6, 2.2, 1.6, 1.1, 0.5, -0.2, -1.0};

static void chart(const char* title, const LogitRow& row) {
  std::printf("\n%s\n", title);
  const std::vector<double> probabilities = softmax_row(row);
  for (std::size_t id = 0; id < row.size(); ++id) {
    std::string bar;
    for (long i = std::lround(60 * probabilities[id]); i > 0; --i) bar += "█";
    std::printf("  %s %5.3f %s\n", words[id], probabilities[id], bar.c_str());
  }
}

static void filters() {
  std::printf("1. One distribution and what each filter makes of it\n");
  const std::vector<int> context = {0, 3, 0};
  chart("as the model has it", logits);
  chart("repetition penalty 2, after \"cat fox cat\"", punish_repetition(logits, context, 2));
  chart("temperature 0.5", apply_temperature(logits, 0.5));
  chart("temperature 2", apply_temperature(logits, 2));
  chart("top-k 3", keep_top_k(logits, 3));
  chart("top-p 0.9", keep_top_p(logits, 0.9));
  chart("min-p 0.2", keep_min_p(logits, 0.2));
}

static void draws() {
  constexpr int count = 1'000'000;
  const std::vector<double> probabilities = {0.1, 0.2, 0.3, 0.4};
  std::vector<int> counts(4);
  Rng rng(1);
  for (int i = 0; i < count; ++i) ++counts[draw(probabilities, rng.uniform())];
  std::printf("\n2. A million draws from 0.1, 0.2, 0.3, 0.4\n\n ");
  for (int times : counts) std::printf(" %.4f", static_cast<double>(times) / count);
  std::printf("\n");
}

static Decoder small_model() {
  Decoder decoder({.width = 64, .n_layers = 4, .n_heads = 4, .n_kv_heads = 2, .context_length = 512});
  Rng rng(14);
  initialise(decoder, rng);
  return decoder;
}

struct Timed {
  std::vector<std::vector<int>> texts;
  double seconds;
};

static Timed write(const Decoder& decoder, const std::vector<std::vector<int>>& prompts,
                   const GenerateOptions& options) {
  std::vector<Sampler> samplers;
  for (std::size_t row = 0; row < prompts.size(); ++row) samplers.push_back(make_sampler(options.sampler, Rng(1, row)));
  const auto start = std::chrono::steady_clock::now();
  Timed result{generate_batch(decoder, prompts, options, samplers), 0};
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

static bool cached_and_not(const Decoder& decoder) {
  std::printf("\n3. With a cache and without: the same tokens\n\n  %-6s %-6s %18s %18s\n", "length", "same",
              "cached, tokens/s", "uncached, tokens/s");
  write(decoder, {{65}}, {.tokens = 64});  // the first call also makes tables and threads
  bool all = true;
  for (std::size_t tokens : {31, 63, 127, 255, 511}) {
    GenerateOptions options{.tokens = tokens, .sampler = {.temperature = 0}};
    const Timed cached = write(decoder, {{65}}, options);
    options.cache = false;
    const Timed uncached = write(decoder, {{65}}, options);
    const bool same = cached.texts == uncached.texts;
    all &= same;
    std::printf("  %-6zu %-6s %18.0f %18.0f\n", tokens + 1, same ? "yes" : "NO",
                static_cast<double>(tokens) / cached.seconds, static_cast<double>(tokens) / uncached.seconds);
  }
  return all;
}

static void memory(const Decoder& decoder) {
  const Config& c = decoder.config;
  const KVCache cache(c, 1, c.context_length);
  std::printf("\n4. What a token costs: 2·L·G·D numbers of %zu bytes\n\n", sizeof(Real));
  std::printf("  2·%zu·%zu·%zu·%zu = %zu bytes; %zu tokens: %zu\n", c.n_layers, c.n_kv_heads, c.resolved_head_dim(),
              sizeof(Real), cache.elements_per_token() * sizeof(Real), c.context_length, cache.bytes());
}

static bool batches(const Decoder& decoder) {
  const std::vector<std::vector<int>> prompts = {{65}, {66, 67, 68, 69, 70}, std::vector<int>(17, 71)};
  const GenerateOptions options{.tokens = 100, .sampler = {.temperature = 0}};
  const Timed together = write(decoder, prompts, options);
  Timed alone{{}, 0};
  for (const auto& prompt : prompts) {
    const Timed one = write(decoder, {prompt}, options);
    alone.texts.push_back(one.texts.front());
    alone.seconds += one.seconds;
  }
  const bool same = together.texts == alone.texts;
  std::printf("\n5. Prompts of 1, 5 and 17 tokens, alone and in one batch\n\n  same: %s; ", same ? "yes" : "NO");
  std::printf("%.0f tokens/s alone, %.0f together\n", 300 / alone.seconds, 300 / together.seconds);
  return same;
}

int main() {
  filters();
  draws();
  const Decoder decoder = small_model();
  const bool same_cached = cached_and_not(decoder);
  memory(decoder);
  return batches(decoder) && same_cached ? 0 : 1;
}
