// gradus train: a text goes in, a folder with a model that writes such text comes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gradus::tool {

struct TrainOptions {
  std::vector<std::string> texts;  // files; none: the project's own stories
  std::string preset = "stories";
  std::string out;                 // the folder
  std::string tokenizer = "bytes";
  std::string attention;           // empty: as the preset says
  // Each overrides the preset.
  std::optional<std::size_t> steps, batch, context, eval_every;
  std::optional<double> rate;
  std::uint64_t seed = 1337;
  std::size_t threads = 0;  // 0: as many as there are cores
};

void train(const TrainOptions& options);

}  // namespace gradus::tool
