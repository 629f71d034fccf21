#include "nn/config.h"

#include <array>
#include <cmath>

#include "autograd/error.h"
#include "nn/swiglu.h"
#include "nn/words.h"

namespace gradus::nn {

std::size_t Config::resolved_hidden() const { return hidden != 0 ? hidden : swiglu_hidden(width, multiple_of); }

void Config::validate() const {
  const auto small = [](std::string_view field, std::size_t value) {
    constexpr std::size_t limit = std::size_t{1} << 31;
    expect(value < limit, "config: {} is {}; it must be below {}", field, value, limit);
  };
  const auto positive = [&](std::string_view field, std::size_t value) {
    expect(value > 0, "config: {} must be 1 or more, not 0", field);
    small(field, value);
  };
  positive("vocab_size", vocab_size);
  positive("width", width);
  positive("n_layers", n_layers);
  positive("n_heads", n_heads);
  positive("n_kv_heads", n_kv_heads);
  positive("multiple_of", multiple_of);
  positive("context_length", context_length);
  small("head_dim", head_dim);
  small("hidden", hidden);
  small("n_heads times head_dim", n_heads * resolved_head_dim());
  expect(n_heads % n_kv_heads == 0,
         "config: n_heads {} is not a multiple of n_kv_heads {}; every key and value head serves a whole group of "
         "queries",
         n_heads, n_kv_heads);
  expect(head_dim != 0 || width % n_heads == 0,
         "config: width {} is not a multiple of n_heads {}; change one of them or set head_dim", width, n_heads);
  expect(resolved_head_dim() % 2 == 0,
         "config: head_dim {} is odd; rotary positions turn pairs, so it must be even (width {} / n_heads {})",
         resolved_head_dim(), width, n_heads);
  expect(rope_theta > 0 && std::isfinite(rope_theta), "config: rope_theta must be a number above 0, not {}",
         rope_theta);
  rope_scaling.validate();
  expect(rope_scaling.kind != RopeScalingKind::yarn || rope_theta > 1,
         "config: rope_theta must be above 1 for rope_scaling yarn, not {}", rope_theta);
  expect(norm_epsilon >= 0 && std::isfinite(norm_epsilon), "config: norm_epsilon must be 0 or more, not {}",
         norm_epsilon);
  expect(dropout >= 0 && dropout < 1, "config: dropout must be in [0, 1), not {}", dropout);
}

std::vector<ParameterCount> Config::parameter_table() const {
  const std::size_t queries = n_heads * resolved_head_dim(), keys = n_kv_heads * resolved_head_dim();
  const std::size_t inner = resolved_hidden();
  std::vector<ParameterCount> table;
  const auto once = [&](const char* name, const Shape& shape) { table.push_back({name, shape, 1}); };
  const auto each = [&](const char* name, const Shape& shape) {
    table.push_back({std::string("layers.N.") + name, shape, n_layers});
  };
  once("embedding.weight", {vocab_size, width});
  each("attention_norm.gain", {width});
  each("attention.query.weight", {queries, width});
  if (attention_bias) each("attention.query.bias", {queries});
  each("attention.key.weight", {keys, width});
  if (attention_bias) each("attention.key.bias", {keys});
  each("attention.value.weight", {keys, width});
  if (attention_bias) each("attention.value.bias", {keys});
  each("attention.output.weight", {width, queries});
  if (query_key_norm) each("attention.query_norm.gain", {resolved_head_dim()});
  if (query_key_norm) each("attention.key_norm.gain", {resolved_head_dim()});
  each("feed_forward_norm.gain", {width});
  each("feed_forward.gate.weight", {inner, width});
  each("feed_forward.up.weight", {inner, width});
  each("feed_forward.down.weight", {width, inner});
  once("norm.gain", {width});
  if (!tied_head) once("head.weight", {vocab_size, width});
  return table;
}

std::size_t Config::parameter_count() const {
  std::size_t total = 0;
  for (const ParameterCount& row : parameter_table()) total += row.count();
  return total;
}

static constexpr std::array pairings = {Word{RopePairing::adjacent, "adjacent"}, Word{RopePairing::half, "half"}};
static constexpr std::array scalings = {Word{RopeScalingKind::none, "none"}, Word{RopeScalingKind::linear, "linear"},
                                        Word{RopeScalingKind::llama3, "llama3"}, Word{RopeScalingKind::yarn, "yarn"}};
static constexpr std::array attentions = {Word{AttentionKind::composed, "composed"}, Word{AttentionKind::fused, "fused"}};
static constexpr std::array initialisations = {Word{Initialisation::scaled, "scaled"}, Word{Initialisation::plain, "plain"}};

std::string_view word_of(RopePairing pairing) { return word_in(pairings, pairing); }
std::string_view word_of(RopeScalingKind kind) { return word_in(scalings, kind); }
std::string_view word_of(AttentionKind kind) { return word_in(attentions, kind); }
std::string_view word_of(Initialisation initialisation) { return word_in(initialisations, initialisation); }

void from_word(std::string_view word, RopePairing& pairing) { choose("config: rope_pairing", pairings, word, pairing); }
void from_word(std::string_view word, RopeScalingKind& kind) { choose("config: rope_scaling", scalings, word, kind); }
void from_word(std::string_view word, AttentionKind& kind) { choose("config: attention", attentions, word, kind); }
void from_word(std::string_view word, Initialisation& initialisation) {
  choose("config: initialisation", initialisations, word, initialisation);
}

const std::vector<Preset>& presets() {
  static const std::vector<Preset> list = {
      {"book", "small enough to follow by hand",
       {.vocab_size = 13, .width = 32, .n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .hidden = 64,
        .context_length = 32}},
      {"stories", "the main job: learns the project's own stories in about two minutes",
       {.width = 128, .n_layers = 4, .n_heads = 4, .n_kv_heads = 2, .context_length = 128}},
      {"minute", "a minute on two cores",
       {.width = 128, .n_layers = 4, .n_heads = 4, .n_kv_heads = 2, .context_length = 128}},
      {"five-minutes", "five minutes on two cores",
       {.width = 160, .n_layers = 4, .n_heads = 5, .n_kv_heads = 5, .context_length = 160}},
      {"thirty-minutes", "half an hour on two cores",
       {.width = 256, .n_layers = 6, .n_heads = 8, .n_kv_heads = 4, .context_length = 256}},
      {"shakespeare", "for plays: four layers, context 64",
       {.width = 128, .n_layers = 4, .n_heads = 4, .n_kv_heads = 4, .context_length = 64}},
      {"stories260k", "the smallest of llama2.c's models of children's stories",
       {.vocab_size = 512, .width = 64, .n_layers = 5, .n_heads = 8, .n_kv_heads = 4, .hidden = 172,
        .context_length = 512}},
      {"minimind", "the 26 M parameter model of the MiniMind project",
       {.vocab_size = 6400, .width = 512, .n_layers = 8, .n_heads = 8, .n_kv_heads = 2, .hidden = 1408,
        .context_length = 32768, .rope_theta = 1e6, .rope_pairing = RopePairing::half}},
      {"minimind-3", "the 64 M parameter model of the MiniMind project, with normalised queries and keys",
       {.vocab_size = 6400, .width = 768, .n_layers = 8, .n_heads = 8, .n_kv_heads = 4, .head_dim = 96, .hidden = 2432,
        .context_length = 32768, .rope_theta = 1e6, .rope_pairing = RopePairing::half, .norm_epsilon = 1e-6,
        .query_key_norm = true}},
      {"happy", "the 83 M parameter model of the book Happy-LLM",
       {.vocab_size = 6144, .width = 768, .n_layers = 12, .n_heads = 16, .n_kv_heads = 8, .context_length = 512}},
      {"happy-215m", "the 215 M parameter model of the book Happy-LLM",
       {.vocab_size = 6144, .width = 1024, .n_layers = 18, .n_heads = 16, .n_kv_heads = 8, .context_length = 512}},
  };
  return list;
}

const Preset& find_preset(std::string_view name) {
  std::string known;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
  }
  throw ShapeError(message("preset: there is no {}; there are {}", name, known));
}

}  // namespace gradus::nn
