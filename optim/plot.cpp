#include "optim/plot.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <utility>

#include "autograd/error.h"
#include "optim/gnuplot.h"

namespace gradus::optim {

using Point = std::pair<std::uint64_t, double>;  // step, loss

// The mean over `half` points on either side. The first points have fewer neighbours, as many on both sides, so that
// the steep beginning is not flattened; the last ones only lack those that are still to come.
static std::vector<Point> smoothed(const std::vector<Point>& points, std::size_t half) {
  std::vector<Point> means;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t before = std::min(half, i), after = std::min(before, points.size() - 1 - i);
    double sum = 0;
    for (const Point& near : std::span(points).subspan(i - before, before + 1 + after)) sum += near.second;
    means.emplace_back(points[i].first, sum / static_cast<double>(before + 1 + after));
  }
  return means;
}

static std::string data_block(const char* name, const std::vector<Point>& points) {
  std::string block = message("${} << END\n", name);
  for (const auto& [step, loss] : points) block += message("{} {:.6g}\n", step, loss);
  return block + "END\n";
}

static constexpr std::size_t noisy = 200;  // with more points than this, the noise hides the course

namespace {

struct Curves {
  std::vector<Point> training, validation;
};

}  // namespace

static Curves curves_of(const std::vector<Metrics>& rows) {
  Curves curves;
  for (const Metrics& row : rows) {
    if (std::isfinite(row.loss)) curves.training.emplace_back(row.step, row.loss);
    if (row.validation_loss && std::isfinite(*row.validation_loss))
      curves.validation.emplace_back(row.step, *row.validation_loss);
  }
  return curves;
}

// Where the picture goes and how it looks. gnuplot takes a name that begins with | for a command, which an absolute path
// never does.
static std::string svg_head(const std::filesystem::path& svg, const std::string& title) {
  return message("set output {}\nset title {}\n", gnuplot_quoted(std::filesystem::absolute(svg).string()),
                 gnuplot_quoted(title)) +
         R"(set terminal svg size 960,540 font 'Helvetica,Arial,sans-serif,15' background '#ffffff' noenhanced
set xlabel 'step'
set ylabel 'loss (nats per token)'
set border 3 linecolor '#606060'
set tics nomirror out scale 0.5 textcolor '#404040'
set grid linetype 1 linecolor '#e4e4e4'
set key top right samplen 2
set offsets 0, 0, graph 0.04, graph 0.04
)";
}

std::string plot_script(const std::vector<Metrics>& rows, const std::filesystem::path& svg,
                        const PlotOptions& options) {
  const auto [training, validation] = curves_of(rows);
  std::string script = svg_head(svg, options.title);
  script += "set yrange [0:*]\n";
  script += message("set xrange [0:{}]\n", rows.empty() ? 1 : std::max<std::uint64_t>(1, rows.back().step));
  std::string curves;
  const auto draw = [&](const std::string& curve) { curves += (curves.empty() ? "plot " : ", ") + curve; };
  if (training.size() > noisy) {
    script += data_block("training", training) + data_block("smooth", smoothed(training, training.size() / 100));
    draw("$training with lines linewidth 1 linecolor '#c6dbef' title 'training, each step'");
    draw("$smooth with lines linewidth 2.5 linecolor '#1f6fb4' title 'training, smoothed'");
  } else if (!training.empty()) {
    script += data_block("training", training);
    draw("$training with lines linewidth 2.5 linecolor '#1f6fb4' title 'training'");
  }
  if (!validation.empty()) {
    script += data_block("validation", validation);
    draw("$validation with linespoints linewidth 1.5 pointtype 7 pointsize 0.5 linecolor '#d9541e' title 'validation'");
  }
  if (options.floor)
    draw(message("{:.6g} with lines linewidth 1.5 dashtype 2 linecolor '#707070' title 'floor {:.3f}'", *options.floor,
                 *options.floor));
  return script + curves + "\n";
}

static std::string terminal_head(const PlotTarget& target, const std::string& title) {
  return message("set terminal dumb noenhanced size {},{}\nset title {}\nset xlabel 'step'\nset key top right\n",
                 target.columns, target.lines, gnuplot_quoted(title));
}

std::string runs_script(const std::vector<PlottedRun>& runs, const PlotTarget& target, const PlotOptions& options) {
  std::string script = target.svg.empty() ? terminal_head(target, options.title) : svg_head(target.svg, options.title);
  script += "set yrange [0:*]\n";
  std::string curves;
  const auto draw = [&](const std::string& curve) { curves += (curves.empty() ? "plot " : ", ") + curve; };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto [training, validation] = curves_of(runs[i].rows);
    const std::string name = message("run{}", i), title = gnuplot_quoted(runs[i].name);
    if (!training.empty()) {
      script += data_block(name.c_str(), training.size() > noisy ? smoothed(training, training.size() / 100) : training);
      draw(message("${} with lines linetype {} linewidth 2 title {}", name, i + 1, title));
    }
    if (!validation.empty()) {
      script += data_block((name + "v").c_str(), validation);
      draw(message("${}v with points linetype {} pointtype {} title {}", name, i + 1, i + 1,
                   gnuplot_quoted(runs[i].name + ", validation")));
    }
  }
  if (options.floor) draw(message("{:.6g} with lines dashtype 2 title 'floor {:.3f}'", *options.floor, *options.floor));
  return script + curves + "\n";
}

static bool has_loss(const std::vector<Metrics>& rows) {
  return std::ranges::any_of(rows, [](const Metrics& row) { return std::isfinite(row.loss); });
}

static void expect_loss(bool any, const std::string& picture) {
  expect<FileError>(any, "{}: no picture: there is no loss to draw", picture);
}

static std::filesystem::path beside(std::filesystem::path svg) { return svg += ".gnuplot"; }

bool plot_loss(const std::vector<Metrics>& rows, const std::filesystem::path& svg, const PlotOptions& options) {
  try {
    expect_loss(has_loss(rows), svg.string());
    run_gnuplot(beside(svg), plot_script(rows, svg, options), svg.string());
    return true;
  } catch (const FileError& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return false;
  }
}

void plot_runs(const std::vector<PlottedRun>& runs, const PlotTarget& target, const PlotOptions& options) {
  const std::string picture = target.svg.empty() ? "terminal" : target.svg.string();
  expect_loss(std::ranges::any_of(runs, [](const PlottedRun& run) { return has_loss(run.rows); }), picture);
  const std::string script = runs_script(runs, target, options);
  if (!target.svg.empty()) return run_gnuplot(beside(target.svg), script, picture);
  std::fflush(stdout);  // gnuplot writes to the same
  run_gnuplot(std::filesystem::temp_directory_path() / message("gradus-plot-{}", getpid()), script, picture);
}

}  // namespace gradus::optim
