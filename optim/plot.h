// The course of training as a picture: losses over steps.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "optim/metrics.h"

namespace gradus::optim {

struct PlotOptions {
  std::string title = "Training";
  std::optional<double> floor;  // a loss to compare with: a horizontal line
};

// Draws the loss over the steps as a picture in SVG, with the program gnuplot. Returns whether there is a picture; if
// not, because gnuplot is not installed, failed, or there is nothing to draw, one line on stderr says why. A run
// never ends because of its picture.
bool plot_loss(const std::vector<Metrics>& rows, const std::filesystem::path& svg, const PlotOptions& options = {});

// What gnuplot is told: the numbers and how to draw them.
std::string plot_script(const std::vector<Metrics>& rows, const std::filesystem::path& svg,
                        const PlotOptions& options = {});

// Several runs to compare, each in a colour of its own: the training loss as a line, smoothed where it is long, the validation
// loss as points.
struct PlottedRun {
  std::string name;
  std::vector<Metrics> rows;
};
struct PlotTarget {
  std::filesystem::path svg = {};  // empty: the terminal, in characters
  std::size_t columns = 79, lines = 24;
};
// Errors (FileError): no run has a loss; gnuplot is not installed or failed; the picture cannot be written.
void plot_runs(const std::vector<PlottedRun>& runs, const PlotTarget& target, const PlotOptions& options = {});
std::string runs_script(const std::vector<PlottedRun>& runs, const PlotTarget& target, const PlotOptions& options = {});

}  // namespace gradus::optim
