// gradus plot: the losses of one or several runs as a picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gradus::tool {

struct PlotOptions {
  std::vector<std::string> runs;  // folders with a metrics.csv, or such files
  std::string out;                // an SVG file; empty: the terminal
  std::optional<double> floor;    // a loss to compare with
};

void plot(const PlotOptions& options);

}  // namespace gradus::tool
