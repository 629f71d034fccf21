// The line that shows how a training run is doing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "optim/metrics.h"

namespace gradus::optim {

// The state of a run as one line of at most `width` characters: fields in the order of their importance, as many as
// fit, and a bar where there is room. The time left is that of the tokens left at the present speed.
//   1200/5000  loss 2.3456  validation 2.4012  2m10s left  12.3k tokens/s  gradient 0.84  rate 3.00e-04  [==>   ]
std::string progress_line(const Metrics& now, std::uint64_t total_steps, std::size_t width);

// 45s, 2m10s, 3h05m, 4d07h
std::string duration(double seconds);

// Shows the line: on a terminal always in the same place, at most ten times a second; elsewhere as ordinary lines,
// at the first and last step and whenever 5 % of the run or 5 seconds have passed, whichever is later.
class Progress {
 public:
  // On stderr, as wide as its terminal.
  explicit Progress(std::uint64_t total_steps);
  Progress(std::uint64_t total_steps, std::ostream& out, bool terminal, std::size_t width);
  ~Progress();  // leaves the cursor on a new line

  // The last validation loss stays shown until there is another.
  void update(const Metrics& now);
  // Ends the line, so that something else can be printed. The next update begins a new one.
  void end_line();

 private:
  bool due(const Metrics& now) const;

  std::uint64_t total_steps_;
  std::ostream& out_;
  bool terminal_;
  std::size_t width_;
  std::optional<Metrics> shown_;
  std::optional<double> validation_loss_;
  bool line_open_ = false;
};

}  // namespace gradus::optim
