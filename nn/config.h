// The settings that make a decoder this one and no other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/ops/rope.h"
#include "nn/attention.h"
#include "nn/kv_cache.h"

namespace gradus::nn {

// How weights begin: all from N(0, 0.02), gains 1, biases 0, and the two projections that add to the residual stream,
// attention.output and feed_forward.down, …
enum class Initialisation {
  scaled,  // … from N(0, 0.02 / √(2 L)), so that the stream's variance does not grow with the depth.
           // Radford et al., "Language Models are Unsupervised Multitask Learners" (2019), section 2.3
  plain,   // … like the others
};

// A line of the parameter table: `copies` tensors of one name and shape.
struct ParameterCount {
  std::string name;  // "layers.N.attention.query.weight"
  Shape shape;
  std::size_t copies;
  std::size_t count() const { return shape.size() * copies; }
};

struct Config {
  std::size_t vocab_size = 256;      // V
  std::size_t width = 128;           // C, of the residual stream
  std::size_t n_layers = 4;          // L
  std::size_t n_heads = 4;           // H, of the queries
  std::size_t n_kv_heads = 4;        // G, of the keys and values; divides H
  std::size_t head_dim = 0;          // D, even; 0: width / n_heads
  std::size_t hidden = 0;            // of the feed-forward layer; 0: 8/3 · width, rounded up to multiple_of
  std::size_t multiple_of = 64;      // see hidden
  std::size_t context_length = 64;   // the most tokens a sequence may have
  double rope_theta = 10000;         // the base of the rotary angles
  RopePairing rope_pairing = RopePairing::adjacent;  // which two numbers of a head are turned together
  RopeScaling rope_scaling = {};     // for a context_length above that of the training: autograd/ops/yarn.h
  double norm_epsilon = 1e-5;        // inside the root of every RMSNorm
  bool attention_bias = false;       // query, key and value have biases, as in Qwen2
  bool query_key_norm = false;       // every head's query and key is normalised before it is turned, as in Qwen3
  bool tied_head = true;             // logits come from the embedding's own matrix
  double dropout = 0;                // on the embedding, the attention weights and what attention and feed-forward
                                     // add to the stream; only where the Context has a generator
  AttentionKind attention = AttentionKind::fused;  // how it is computed; the numbers agree to rounding
  Initialisation initialisation = Initialisation::scaled;

  std::string chat_template = "none";  // how a conversation is written, where the model can hold one: nn/text/chat_template.h

  // The two settings that may be left to a rule.
  std::size_t resolved_head_dim() const { return head_dim != 0 || n_heads == 0 ? head_dim : width / n_heads; }
  std::size_t resolved_hidden() const;

  // So that a cache for this decoder is KVCache(config, batch, capacity).
  operator KVCacheSize() const { return {n_layers, n_kv_heads, resolved_head_dim()}; }

  // Errors: a field that no decoder can have, naming it, its value and what would do.
  void validate() const;

  // Every setting, under the name it has in config.json.
  static void fields(auto& self, auto&& visit) {
    visit("vocab_size", self.vocab_size);
    visit("width", self.width);
    visit("n_layers", self.n_layers);
    visit("n_heads", self.n_heads);
    visit("n_kv_heads", self.n_kv_heads);
    visit("head_dim", self.head_dim);
    visit("hidden", self.hidden);
    visit("multiple_of", self.multiple_of);
    visit("context_length", self.context_length);
    visit("rope_theta", self.rope_theta);
    visit("rope_pairing", self.rope_pairing);
    visit("rope_scaling", self.rope_scaling.kind);
    visit("rope_factor", self.rope_scaling.factor);
    visit("rope_original_context", self.rope_scaling.original_context);
    visit("rope_beta_fast", self.rope_scaling.beta_fast);
    visit("rope_beta_slow", self.rope_scaling.beta_slow);
    visit("rope_attention_factor", self.rope_scaling.attention_factor);
    visit("norm_epsilon", self.norm_epsilon);
    visit("attention_bias", self.attention_bias);
    visit("query_key_norm", self.query_key_norm);
    visit("tied_head", self.tied_head);
    visit("dropout", self.dropout);
    visit("attention", self.attention);
    visit("initialisation", self.initialisation);
    visit("chat_template", self.chat_template);
  }

  // Every parameter of the decoder, a tied matrix once. Shapes only: nothing is allocated.
  std::vector<ParameterCount> parameter_table() const;
  std::size_t parameter_count() const;
};

// The words that stand for a choice in files and on the command line. Errors: no such word, listing those there are.
std::string_view word_of(RopePairing pairing);
std::string_view word_of(RopeScalingKind kind);
std::string_view word_of(AttentionKind kind);
std::string_view word_of(Initialisation initialisation);
void from_word(std::string_view word, RopePairing& pairing);
void from_word(std::string_view word, RopeScalingKind& kind);
void from_word(std::string_view word, AttentionKind& kind);
void from_word(std::string_view word, Initialisation& initialisation);
inline AttentionKind attention_kind(std::string_view word) {
  AttentionKind kind{};
  from_word(word, kind);
  return kind;
}

struct Preset {
  std::string_view name;
  std::string_view what;  // one line
  Config config;
};

const std::vector<Preset>& presets();
// Errors: no preset of that name, listing those there are.
const Preset& find_preset(std::string_view name);

}  // namespace gradus::nn
