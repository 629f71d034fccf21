#include "optim/schedule.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/safetensors.h"

using namespace gradus;
using namespace gradus::optim;

TEST_CASE("the rate climbs from above 0 to the peak and falls along half a cosine to the floor") {
  const Schedule schedule({.peak = 1e-3, .floor = 1e-4, .warmup_steps = 10, .decay_steps = 100});
  CHECK(schedule.rate(0) == doctest::Approx(1e-3 / 11));
  CHECK(schedule.rate(10) == 1e-3);
  CHECK(schedule.rate(55) == doctest::Approx(5.5e-4).epsilon(1e-12));
  CHECK(schedule.rate(100) == 1e-4);
  CHECK(schedule.rate(std::numeric_limits<std::uint64_t>::max()) == 1e-4);
  for (std::uint64_t step = 0; step < 10; ++step) CHECK(schedule.rate(step) < schedule.rate(step + 1));
  for (std::uint64_t step = 10; step < 100; ++step) CHECK(schedule.rate(step) > schedule.rate(step + 1));
}

TEST_CASE("a schedule without warm-up begins at the peak, and one without decay ends in the floor") {
  CHECK(Schedule({.peak = 1, .floor = 0, .warmup_steps = 0, .decay_steps = 4}).rate(0) == 1);
  const Schedule climb({.peak = 1, .floor = 0.5, .warmup_steps = 4, .decay_steps = 4});
  CHECK(climb.rate(3) == doctest::Approx(0.8));
  CHECK(climb.rate(4) == 0.5);
  CHECK(Schedule({.peak = 1, .floor = 1, .warmup_steps = 0, .decay_steps = 0}).rate(0) == 1);
}

TEST_CASE("the cosine is that of another trainer's schedule") {
  const auto path = std::filesystem::path(GRADUS_SHARED_DIR) / "golden/optim.lr_schedules.safetensors";
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: " << path.string() << " is not there");
    return;
  }
  const nn::SafetensorsFile file(path);
  int number = 0;
  for (const auto& settings : nlohmann::json::parse(file.metadata().at("cases"))) {
    if (settings["kind"] != "happy") continue;
    const std::string prefix = message("happy/c{}", number++);
    CAPTURE(prefix);
    const double peak = settings["lr"];
    const std::uint64_t warmup = settings["warmup_iters"], total = settings["total_steps"];
    const Schedule schedule({.peak = peak, .floor = peak / 10, .warmup_steps = warmup, .decay_steps = total});
    const Tensor rates = file.read(prefix + "/lr");
    const auto steps = file.integers(prefix + "/step");
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto step = static_cast<std::uint64_t>(steps[i]);
      if (step < warmup) continue;  // that climb begins at 0
      CHECK(schedule.rate(step) ==
            doctest::Approx(static_cast<double>(rates.values()[i])).epsilon(sizeof(Real) == 8 ? 1e-12 : 1e-5));
    }
  }
  CHECK(number > 0);
}

TEST_CASE("a schedule refuses settings that cannot work") {
  CHECK_THROWS_WITH_AS(Schedule({.peak = 0}), "schedule: the peak rate 0 must be above 0", ShapeError);
  CHECK_THROWS_WITH_AS(Schedule({.peak = 1, .floor = 2}), "schedule: the floor 2 must lie between 0 and the peak 1",
                       ShapeError);
  CHECK_THROWS_AS(Schedule({.peak = std::numeric_limits<double>::quiet_NaN()}), ShapeError);
  CHECK_THROWS_WITH_AS(
      Schedule({.warmup_steps = 11, .decay_steps = 10}),
      "schedule: a warm-up of 11 steps does not end before the decay at step 10; shorten it", ShapeError);
}

TEST_CASE("every kind begins above 0, climbs to the peak, never rises again, and all but the constant one end at the floor") {
  for (const char* word : {"cosine", "linear", "constant", "stable"}) {
    CAPTURE(word);
    ScheduleKind kind{};
    from_word(word, kind);
    CHECK(word_of(kind) == word);
    const Schedule schedule({.kind = kind, .peak = 1e-3, .floor = 1e-4, .warmup_steps = 10, .decay_steps = 100});
    CHECK(schedule.rate(0) > 0);
    CHECK(schedule.rate(10) == doctest::Approx(1e-3));
    for (std::uint64_t step = 0; step < 10; ++step) CHECK(schedule.rate(step) < schedule.rate(step + 1));
    for (std::uint64_t step = 10; step < 120; ++step) {
      CHECK(schedule.rate(step) >= schedule.rate(step + 1));
      CHECK(schedule.rate(step) - schedule.rate(step + 1) < 0.06 * 1e-3);  // no jump
    }
    CHECK(schedule.rate(100) == (kind == ScheduleKind::constant ? 1e-3 : 1e-4));
  }
  ScheduleKind kind{};
  CHECK_THROWS_WITH_AS(from_word("step", kind), "schedule is cosine, linear, constant or stable, not step", ShapeError);
}

TEST_CASE("the linear rate is halfway down in the middle, and the stable one falls only in its last part") {
  CHECK(Schedule({.kind = ScheduleKind::linear, .peak = 1, .floor = 0, .warmup_steps = 0, .decay_steps = 100}).rate(50) == 0.5);
  const Schedule stable({.kind = ScheduleKind::stable, .peak = 1, .floor = 0, .warmup_steps = 10, .decay_steps = 100, .decay_fraction = 0.2});
  CHECK(stable.rate(80) == 1);
  CHECK(stable.rate(81) < 1);
  CHECK(stable.rate(90) == doctest::Approx(0.5));
  CHECK_THROWS_AS(Schedule({.decay_fraction = 0}), ShapeError);
}
