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

}  // namespace gradus::optim
