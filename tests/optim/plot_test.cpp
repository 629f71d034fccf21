#include "optim/plot.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "autograd/error.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::optim;

static std::vector<Metrics> falling(std::size_t count) {
  std::vector<Metrics> rows(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double step = static_cast<double>(i);
    rows[i].step = i;
    rows[i].loss = 1.5 + 2.7 * std::exp(-step / 150) + 0.1 * std::sin(step * 12.9898) * std::cos(step * 78.233);
    if (i % 50 == 49) rows[i].validation_loss = 1.6 + 2.7 * std::exp(-step / 150);
  }
  return rows;
}

static bool has_gnuplot() { return std::system("gnuplot --version > /dev/null 2>&1") == 0; }

TEST_CASE("a plot is an SVG with its axes, its legend and its floor, under any file name") {
  if (!has_gnuplot()) {
    MESSAGE("skipped: gnuplot is not installed");
    return;
  }
  const TemporaryFolder folder;
  for (const char* name : {"loss.svg", "it's \"$(x)\" `here`; \\.svg", "|loss.svg"})
    for (std::size_t count : {std::size_t{1}, std::size_t{60}, std::size_t{800}}) {
      CAPTURE(name);
      CAPTURE(count);
      const auto path = folder / name;
      REQUIRE(plot_loss(falling(count), path, {.title = "It's 100 % \"plain\"", .floor = 1.47}));
      std::ifstream stream(path);
      const std::string svg{std::istreambuf_iterator<char>(stream), {}};
      CHECK(svg.find("</svg>") != std::string::npos);
      for (const char* text : {"step", "loss (nats per token)", "training", "floor 1.470"})
        CHECK(svg.find(text) != std::string::npos);
      CHECK((svg.find("smoothed") != std::string::npos) == (count > 200));
    }
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 3);
}

TEST_CASE("a plot leaves out what is not a number") {
  std::vector<Metrics> rows = falling(3);
  rows[1].loss = std::numeric_limits<double>::quiet_NaN();
  const std::string script = plot_script(rows, "loss.svg");
  CHECK(script.find("\n0 4.2\n2 ") != std::string::npos);
}

TEST_CASE("without losses or without gnuplot there is no plot and no error") {
  const TemporaryFolder folder;
  const auto path = folder / "loss.svg";
  CHECK(!plot_loss({}, path));
  const std::string search_path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  CHECK(!plot_loss(falling(3), path));
  setenv("PATH", search_path.c_str(), 1);
  CHECK(!std::filesystem::exists(path));
  CHECK(!plot_loss(falling(3), folder / "no/folder/loss.svg"));
}

TEST_CASE("several runs are drawn in one picture, as SVG or in the terminal's characters") {
  const std::vector<PlottedRun> runs{{"one", falling(800)}, {"it's two", falling(60)}, {"empty", {}}};
  const std::string script = runs_script(runs, {.svg = "runs.svg"}, {.floor = 1.47});
  for (const char* part : {"$run0 << END", "$run0v << END", "$run1 << END", "title 'it''s two'", "floor 1.470"})
    CHECK(script.find(part) != std::string::npos);
  CHECK(script.find("$run2") == std::string::npos);
  CHECK(runs_script(runs, {.columns = 60, .lines = 20}).find("set terminal dumb noenhanced size 60,20") != std::string::npos);
  if (!has_gnuplot()) {
    MESSAGE("skipped: gnuplot is not installed");
    return;
  }
  const TemporaryFolder folder;
  plot_runs(runs, {.svg = folder / "runs.svg"});
  std::ifstream stream(folder / "runs.svg");
  const std::string svg{std::istreambuf_iterator<char>(stream), {}};
  CHECK(svg.find("it's two, validation") != std::string::npos);
  plot_runs(runs, {}, {.floor = 1.47});
}

TEST_CASE("runs that cannot be drawn are an error that says why") {
  CHECK_THROWS_WITH_AS(plot_runs({{"empty", {}}}, {}), "terminal: no picture: there is no loss to draw", FileError);
  const std::string search_path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  CHECK_THROWS_WITH_AS(plot_runs({{"one", falling(3)}}, {.svg = "runs.svg"}),
                       "runs.svg: no picture: the program gnuplot is not installed (Debian: gnuplot-nox)", FileError);
  setenv("PATH", search_path.c_str(), 1);
}
