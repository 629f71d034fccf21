// gradus train: a text goes in, a folder with a model that writes such text comes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gradus::tool {

struct TrainOptions {
  std::vector<std::string> texts;         // files and folders; none: the project's own stories
  std::string separator;                  // a line that ends a document; empty: a text file is one
  bool documents = false;                 // one document a row, padded, instead of windows over all of them
  std::vector<std::string> conversations;  // .jsonl files, instead of texts: the answers in them are learnt
  std::optional<std::string> chat_template;  // of the conversations; none: the model's own
  std::string out;                        // the run's folder, of a new run
  std::string resume;                     // the run's folder, of one that is to go on
  std::string init;                       // a model whose weights a new run begins with
  // Each overrides the preset, or what the resumed run has.
  std::optional<std::string> preset, tokenizer, attention, schedule;
  std::optional<std::size_t> steps, batch, accumulate, context, eval_every, patience;
  std::optional<double> rate;
  std::optional<std::uint64_t> seed;
  bool skip_bad_steps = false;
  std::size_t save_every = 0;    // steps between checkpoints, besides those at validations
  std::size_t sample_tokens = 0;  // length of the sample that is shown at validations; 0: none
  std::size_t threads = 0;       // 0: as many as there are cores
};

void train(const TrainOptions& options);

}  // namespace gradus::tool
