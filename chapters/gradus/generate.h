// gradus generate: a model writes on standard output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradus::tool {

struct GenerateOptions {
  std::string model;
  std::string tokenizer;    // empty: the one beside the model
  std::string prompt;       // empty: the tokenizer's start token, or where it has none a line break, where texts begin
  std::string prompt_file;  // instead of prompt; "-" is standard input
  bool allow_special = false;
  std::size_t tokens = 256;
  std::size_t samples = 1;  // number n draws from stream n − 1 of the seed
  double temperature = 1;
  std::size_t top_k = 0;
  double top_p = 1;
  double min_p = 0;
  double repetition_penalty = 1;
  std::size_t penalty_window = 0;
  bool valid_utf8 = false;
  bool llama2c_random = false;  // number n draws with seed + n − 1
  bool ignore_end = false;
  std::vector<std::string> stops;
  std::size_t top = 0;      // above 0: no text, but a table of so many tokens that could be the next
  bool dump_ids = false;    // no text, but a line with the prompt's ids, and one with the new ids for each sample
  std::string dump_logits;  // a file; empty: none
  bool no_cache = false;
  std::uint64_t seed = 1;
  std::size_t threads = 0;  // 0: as many as there are cores
  std::string attention;    // empty: as the model says
};

void generate(const GenerateOptions& options);

}  // namespace gradus::tool
