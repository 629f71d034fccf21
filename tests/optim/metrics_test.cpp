#include "optim/metrics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <iterator>
#include <limits>

#include "autograd/error.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::optim;

static const std::string header = "step,tokens,loss,validation_loss,gradient_norm,rate,tokens_per_second,seconds\n";

static std::string contents(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

static Metrics row(std::uint64_t step) {
  return {.step = step, .tokens = step * 100, .loss = 2.5, .gradient_norm = 0.1, .rate = 1e-3,
          .tokens_per_second = 1000, .seconds = 0.1};
}

TEST_CASE("metrics: what is written is in the file at once, one row a step, and is read back exactly") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.csv";
  Metrics first = row(1), second = row(2);
  second.validation_loss = 1.0 / 3;
  second.loss = std::numeric_limits<double>::infinity();
  MetricsWriter writer(path);
  writer.write(first);
  CHECK(contents(path) == header + "1,100,2.5,,0.1,0.001,1000,0.1\n");
  writer.write(second);
  CHECK(read_metrics(path) == std::vector{first, second});
}

TEST_CASE("metrics of a resumed run have each step once") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.csv";
  {
    MetricsWriter writer(path);
    for (std::uint64_t step = 1; step <= 5; ++step) writer.write(row(step));
  }
  std::ofstream(path, std::ios::app) << "6,600,2.";  // killed while it wrote
  MetricsWriter writer(path, 3);
  writer.write(row(4));
  CHECK(read_metrics(path) == std::vector{row(1), row(2), row(3), row(4)});
  MetricsWriter(folder / "absent.csv", 3).write(row(4));
  CHECK(read_metrics(folder / "absent.csv") == std::vector{row(4)});
}

TEST_CASE("metrics: a file that is not one is refused with its path and line, and not overwritten") {
  const TemporaryFolder folder;
  const auto other = folder.write("other.csv", "a,b\n1,2\n");
  const std::string message = other.string() + ": its first line is not " + header.substr(0, header.size() - 1) +
                              "; was it written by another program?";
  CHECK_THROWS_WITH_AS(read_metrics(other), message.c_str(), FileError);
  CHECK_THROWS_WITH_AS(MetricsWriter(other, 1), message.c_str(), FileError);
  CHECK(contents(other) == "a,b\n1,2\n");
  for (const char* bad : {"1,2,3", "1,100,,,0.1,0.001,1000,0.1", "-1,100,2.5,,0.1,0.001,1000,0.1",
                          "1,100,2.5x,,0.1,0.001,1000,0.1", "1,100,2.5,,0.1,0.001,1000,0.1,7", ""}) {
    const auto path = folder.write("bad.csv", header + "1,100,2.5,,0.1,0.001,1000,0.1\n" + bad + "\n");
    const std::string text = path.string() + ": line 3 is not eight numbers with commas between: " + bad;
    CHECK_THROWS_WITH_AS(read_metrics(path), text.c_str(), FileError);
  }
  const std::string absent = (folder / "absent").string();
  CHECK_THROWS_WITH_AS(read_metrics(absent),
                       (absent + ": cannot read it; there is no such file, or it is not yours to read").c_str(),
                       FileError);
  CHECK_THROWS_AS(MetricsWriter(folder / "no/folder/metrics.csv"), FileError);
}
