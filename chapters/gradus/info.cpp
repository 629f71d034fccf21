#include "chapters/gradus/info.h"

#include <cstdio>
#include <filesystem>
#include <thread>
#include <type_traits>
#include <vector>

#include "autograd/error.h"
#include "autograd/gemm.h"
#include "autograd/parallel.h"
#include "autograd/real.h"
#include "nn/any_model.h"
#include "nn/config.h"
#include "nn/gpt2.h"
#include "nn/hugging_face_gpt2.h"

namespace gradus::tool {

static void print(const std::string& line) { std::printf("%s\n", line.c_str()); }

static void describe_machine() {
  print(message("numbers:           {}", sizeof(Real) == 4 ? "float" : "double"));
  print(message("matrix products:   {}", gemm_backend()));
  print(message("threads:           {} of {} cores", thread_count(), std::thread::hardware_concurrency()));
  print(message("parallel above:    {} simple operations", parallel_threshold()));
}

// 4900000000 → "4,900,000,000"
static std::string grouped(std::size_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

static void print_setting(const char* name, const auto& value) {
  using Value = std::remove_cvref_t<decltype(value)>;
  if constexpr (std::is_enum_v<Value>)
    print(message("  {:<22} {}", name, nn::word_of(value)));
  else if constexpr (std::is_same_v<Value, bool>)
    print(message("  {:<22} {}", name, value ? "true" : "false"));
  else
    print(message("  {:<22} {}", name, value));
}

static void print_settings(const nn::Config& config) {
  print("settings");
  nn::Config::fields(config, [](const char* name, const auto& value) { print_setting(name, value); });
  if (config.head_dim == 0) print(message("  (head_dim is width / n_heads = {})", config.resolved_head_dim()));
  if (config.hidden == 0) print(message("  (hidden is 8/3 · width, rounded up: {})", config.resolved_hidden()));
}

static void print_parameters(const std::vector<nn::ParameterCount>& table) {
  print("\nparameters");
  std::size_t total = 0;
  for (const nn::ParameterCount& row : table) {
    print(message("  {:<34} {:>14} × {:<3} {:>16}", row.name, row.shape, row.copies, grouped(row.count())));
    total += row.count();
  }
  print(message("  {:<34} {:>14}   {:<3} {:>16}", "unique total", "", "", grouped(total)));

  print("\nmemory, in float");
  print(message("  weights          {:>16} bytes", grouped(4 * total)));
  print(message("  while training   {:>16} bytes: weights, gradients and AdamW's two moments", grouped(16 * total)));
}

// A token's keys and values: 2 · L · G · D numbers.
static void print_cache(const nn::Config& config) {
  const std::size_t numbers = 2 * config.n_layers * config.n_kv_heads * config.resolved_head_dim();
  print(message("  cache            {:>16} bytes for a text of {} tokens: {} numbers a token",
                grouped(4 * numbers * config.context_length), config.context_length, grouped(numbers)));
}

static void print_journey(const nn::Config& c) {
  const std::size_t D = c.resolved_head_dim();
  const auto step = [](const char* what, const std::string& shape) { print(message("  {:<42} {}", what, shape)); };
  print("\na batch of B texts of T tokens on its way through a block");
  step("tokens", "(B, T)");
  step("embedding: the stream h", message("(B, T, {})", c.width));
  step("attention_norm", message("(B, T, {})", c.width));
  step("query, then turned", message("(B, T, {}) = {} heads of {}", c.n_heads * D, c.n_heads, D));
  step("key, then turned; value", message("(B, T, {}) = {} heads of {}", c.n_kv_heads * D, c.n_kv_heads, D));
  step("weights, never whole in memory when fused", message("(B, {}, T, T)", c.n_heads));
  step("attention", message("(B, T, {})", c.n_heads * D));
  step("output, added to h; feed_forward_norm", message("(B, T, {})", c.width));
  step("gate, up, silu(gate) ⊙ up", message("(B, T, {})", c.resolved_hidden()));
  step("down, added to h", message("(B, T, {})", c.width));
  step(message("after {} blocks: norm, head: logits", c.n_layers).c_str(), message("(B, T, {})", c.vocab_size));
}

static void describe_decoder(const nn::Config& config) {
  config.validate();
  print_settings(config);
  print_parameters(config.parameter_table());
  print_cache(config);
  print_journey(config);
}

static void describe_gpt2(const nn::GPT2Config& config) {
  print("settings");
  print_setting("vocab_size", config.vocab_size);
  print_setting("width", config.width);
  print_setting("n_layers", config.n_layers);
  print_setting("n_heads", config.n_heads);
  print_setting("context_length", config.context_length);
  print_setting("bias", config.bias);
  print_parameters(config.parameter_table());
}

static void describe_model(const std::filesystem::path& path) {
  const nn::ModelForm form = nn::form_of(path);
  print(message("form                     {}\n", nn::word_of(form)));
  if (form == nn::ModelForm::gpt2)
    describe_gpt2(nn::read_hugging_face_gpt2_config(path / "config.json"));
  else
    describe_decoder(nn::read_any_config(path));
}

void info(const InfoOptions& options) {
  const int chosen = !options.preset.empty() + !options.model.empty() + options.machine;
  expect(chosen == 1, "info: say one of --preset NAME, --model DIR, --machine");
  if (options.machine)
    describe_machine();
  else if (options.preset == "gpt2")
    describe_gpt2({});
  else if (!options.preset.empty())
    describe_decoder(nn::find_preset(options.preset).config);
  else
    describe_model(options.model);
}

}  // namespace gradus::tool
