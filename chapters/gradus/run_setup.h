// What `gradus train` needs before the first step: data, tokenizer, decoder and settings, of a new run or of one that goes
// on.
#pragma once

#include <memory>
#include <optional>

#include "chapters/gradus/train.h"
#include "nn/checkpoint.h"
#include "optim/checkpoint.h"

namespace gradus::tool {

struct RunSetup {
  nn::Model model;
  std::unique_ptr<optim::Data> data;
  optim::DataSource source;
  optim::TrainerOptions settings;
  std::optional<double> floor;  // nats per token that no model can get below, where it is known
};

// Errors: what the texts, the tokenizer, the preset or the settings do not allow.
RunSetup new_run(const TrainOptions& options);

// The run as its latest checkpoint has it. The rate, the number of steps, and how often it validates and with what
// patience may be changed, and each change is said; everything else must be as it was.
// Errors: FileError with each setting that the options want otherwise.
RunSetup resumed_run(const TrainOptions& options, const std::filesystem::path& checkpoint, const optim::SavedRun& run);

}  // namespace gradus::tool
