#include "chapters/gradus/plot.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>

#include "autograd/error.h"
#include "optim/plot.h"

namespace gradus::tool {

static optim::PlottedRun read_run(const std::string& path) {
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file)) file /= "metrics.csv";
  std::filesystem::path name = std::filesystem::path(path).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  return {name.string(), optim::read_metrics(file)};
}

static optim::PlotTarget target_of(const PlotOptions& options) {
  optim::PlotTarget target{.svg = options.out};
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 40 && window.ws_row >= 12) {
    target.columns = window.ws_col - 1;
    target.lines = window.ws_row - 2;
  }
  return target;
}

void plot(const PlotOptions& options) {
  std::vector<optim::PlottedRun> runs;
  for (const std::string& path : options.runs) runs.push_back(read_run(path));
  const std::string title = runs.size() == 1 ? runs.front().name : message("{} runs", runs.size());
  optim::plot_runs(runs, target_of(options), {.title = title, .floor = options.floor});
}

}  // namespace gradus::tool
