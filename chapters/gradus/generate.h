// gradus generate: a model writes on standard output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gradus::tool {

struct GenerateOptions {
  std::string model;
  std::string prompt;       // empty: a line break, where texts begin
  std::string prompt_file;  // instead of prompt
  std::size_t tokens = 256;
  double temperature = 1;
  std::size_t top_k = 0;
  double top_p = 1;
  double min_p = 0;
  double repetition_penalty = 1;
  bool no_cache = false;
  std::uint64_t seed = 1;
  std::size_t threads = 0;  // 0: as many as there are cores
  std::string attention;    // empty: as the model says
};

void generate(const GenerateOptions& options);

}  // namespace gradus::tool
