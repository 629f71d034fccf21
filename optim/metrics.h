// The numbers of a training run, one row a logged step, in a CSV file that any other program reads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

namespace gradus::optim {

struct Metrics {
  std::uint64_t step = 0;
  std::uint64_t tokens = 0;  // trained on so far
  double loss = 0;  // nats per token
  std::optional<double> validation_loss = {};  // where it was measured
  double gradient_norm = 0;  // before clipping
  double rate = 0;
  double tokens_per_second = 0;
  double seconds = 0;  // since the run began
  bool operator==(const Metrics&) const = default;
};

class MetricsWriter {
 public:
  // Begins a new file. Errors: FileError, with the path and the reason, here and below.
  explicit MetricsWriter(const std::filesystem::path& path);
  // Goes on with the file of a run that resumes after `last_step`: keeps the rows up to that step and drops those
  // that the run will write again. Where there is no file, begins one.
  MetricsWriter(const std::filesystem::path& path, std::uint64_t last_step);

  void write(const Metrics& row);  // in the file at once, not at the end of the run

 private:
  std::filesystem::path path_;
  std::ofstream file_;
};

// Errors: FileError naming the path, and the line where there is one: not there; another header; a row that is not
// eight numbers. An unfinished last line, from a program that was killed, does not count.
std::vector<Metrics> read_metrics(const std::filesystem::path& path);

}  // namespace gradus::optim
