#include "chapters/gradus/info.h"

#include <cstdio>
#include <map>
#include <thread>

#include "autograd/error.h"
#include "autograd/gemm.h"
#include "autograd/parallel.h"
#include "autograd/real.h"
#include "nn/config.h"
#include "nn/config_file.h"

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

static void print_settings(const nn::Config& config) {
  nn::Config::fields(config, [](const char* name, const auto& value) {
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>)
      print(message("  {:<16} {}", name, nn::word_of(value)));
    else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, bool>)
      print(message("  {:<16} {}", name, value ? "true" : "false"));
    else
      print(message("  {:<16} {}", name, value));
  });
  if (config.head_dim == 0) print(message("  (head_dim is width / n_heads = {})", config.resolved_head_dim()));
  if (config.hidden == 0) print(message("  (hidden is 8/3 · width, rounded up: {})", config.resolved_hidden()));
}

static void describe_model(const nn::Config& config) {
  config.validate();
  print("settings");
  print_settings(config);

  print("\nparameters");
  std::size_t total = 0;
  for (const nn::ParameterCount& row : config.parameter_table()) {
    print(message("  {:<34} {:>14} × {:<3} {:>16}", row.name, row.shape, row.copies, grouped(row.count())));
    total += row.count();
  }
  print(message("  {:<34} {:>14}   {:<3} {:>16}", "unique total", "", "", grouped(total)));

  print("\nmemory");
  print(message("  weights          {:>16} bytes in float", grouped(4 * total)));
  print(message("  while training   {:>16} bytes: weights, gradients and AdamW's two moments", grouped(16 * total)));
}

void info(const InfoOptions& options) {
  const int chosen = !options.preset.empty() + !options.model.empty() + options.machine;
  expect(chosen == 1, "info: say one of --preset NAME, --model DIR, --machine");
  if (options.machine) return describe_machine();
  describe_model(options.preset.empty() ? nn::read_config(std::filesystem::path(options.model) / "config.json")
                                        : nn::find_preset(options.preset).config);
}

}  // namespace gradus::tool
