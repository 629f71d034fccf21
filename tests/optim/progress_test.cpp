#include "optim/progress.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <sstream>

using namespace gradus;
using namespace gradus::optim;

static Metrics at(std::uint64_t step, double seconds) {
  return {.step = step, .tokens = step * 1000, .loss = 2.34567, .gradient_norm = 0.841, .rate = 3e-4,
          .tokens_per_second = 12345, .seconds = seconds};
}

TEST_CASE("the progress line shows every number, the time left, and a bar") {
  Metrics now = at(1250, 100);
  now.validation_loss = 2.4;
  CHECK(progress_line(now, 5000, 120) ==
        "1250/5000  loss 2.3457  validation 2.4000  5m04s left  12.3k tokens/s  gradient 0.84  rate 3.00e-04  "
        "[====>            ]");
  CHECK(progress_line(at(0, 0), 5000, 200) ==
        "0/5000  loss 2.3457  12.3k tokens/s  gradient 0.84  rate 3.00e-04  [>                             ]");
  CHECK(progress_line(at(5000, 7300), 5000, 60) == "5000/5000  loss 2.3457  done in 2h01m  12.3k tokens/s");
}

TEST_CASE("the progress line is never wider than asked") {
  Metrics now = at(123456, 1e6);
  now.loss = std::numeric_limits<double>::infinity();
  now.validation_loss = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t width = 0; width < 200; ++width) CHECK(progress_line(now, 1'000'000, width).size() <= width);
}

TEST_CASE("durations have two units at most") {
  CHECK(duration(0) == "0s");
  CHECK(duration(59.4) == "59s");
  CHECK(duration(59.6) == "1m00s");
  CHECK(duration(3600) == "1h00m");
  CHECK(duration(100'000) == "1d03h");
  CHECK(duration(std::numeric_limits<double>::infinity()) == "?");
  CHECK(duration(std::numeric_limits<double>::quiet_NaN()) == "?");
}

TEST_CASE("on a terminal one line is rewritten, ten times a second at most, and ended once") {
  std::ostringstream out;
  {
    Progress progress(1000, out, true, 80);
    for (std::uint64_t step = 1; step <= 1000; ++step) progress.update(at(step, static_cast<double>(step) * 0.01));
  }
  const std::string text = out.str();
  const auto rewrites = std::ranges::count(text, '\r');
  CHECK(rewrites > 80);
  CHECK(rewrites <= 101);
  CHECK(std::ranges::count(text, '\n') == 1);
  CHECK(text.find("1000/1000") != std::string::npos);
}

TEST_CASE("elsewhere plain lines appear now and then, the first and the last step among them") {
  std::ostringstream out;
  {
    Progress progress(1000, out, false, 120);
    for (std::uint64_t step = 1; step <= 1000; ++step) progress.update(at(step, static_cast<double>(step)));
  }
  const std::string text = out.str();
  CHECK(std::ranges::count(text, '\n') == 21);
  CHECK(text.starts_with("1/1000  "));
  CHECK(text.find("\n1000/1000  ") != std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
}

TEST_CASE("the last validation loss stays shown") {
  std::ostringstream out;
  Progress progress(10, out, false, 120);
  Metrics measured = at(1, 1);
  measured.validation_loss = 2.5;
  progress.update(measured);
  progress.update(at(10, 2));
  const std::string text = out.str();
  CHECK(text.find("validation 2.5000", text.find('\n')) != std::string::npos);
}
