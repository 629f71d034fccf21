// What a run needs to go on exactly where it stood: beside the model's files, a checkpoint has
//
//   trainer.json          the settings, what the run learns from, and where trainer and data stand
//   moments.safetensors   the optimizer's two averages of every parameter, in the precision of Real
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nn/checkpoint.h"
#include "optim/trainer.h"

namespace gradus::optim {

// Where the rows come from, so that a resumed run can ask for the same.
struct DataSource {
  std::string kind;                // "stories", "text" in windows, "documents" one a row, or "chat"
  std::vector<std::string> paths;
  std::string separator;           // the line between two documents of a text file
  std::uint64_t fingerprint = 0;   // of the first rows: fingerprint_of()
};

// A number that says which rows the data would give: of the next 64 for training and of the first 64 for validation. The
// data's state is as before.
std::uint64_t fingerprint_of(Data& data);

struct SavedRun {
  TrainerOptions options;
  DataSource source;
  Trainer::State state;
  std::uint64_t optimizer_steps = 0;
  std::vector<std::uint64_t> data_state;
};

// Writes the model's and the trainer's files into a folder. Errors (FileError): as AtomicFile.
void save_checkpoint(const std::filesystem::path& folder, const Trainer& trainer, const nn::Tokenizer& tokenizer,
                     const DataSource& source);

// trainer.json. Errors (FileError): not there or malformed, naming the setting.
SavedRun read_run(const std::filesystem::path& folder);

// Puts the trainer, its optimizer and its data where the saved run stood; the decoder has the checkpoint's weights already.
// Errors (FileError): moments that do not fit the decoder; data with another fingerprint.
void restore(Trainer& trainer, const std::filesystem::path& folder, const SavedRun& run);

}  // namespace gradus::optim
