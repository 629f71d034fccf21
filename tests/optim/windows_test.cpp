#include "optim/windows.h"

#include <doctest/doctest.h>

#include <numeric>
#include <set>

#include "autograd/error.h"
#include "autograd/ops/cross_entropy.h"

using namespace gradus;
using namespace gradus::optim;

static std::vector<int> counting(std::size_t count) {
  std::vector<int> tokens(count);
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

TEST_CASE("each target is the token that follows its input") {
  Windows windows(counting(100), 7, 0, 1);
  const Batch batch = windows.training(5);
  REQUIRE(batch.rows == 5);
  REQUIRE(batch.inputs.size() == 35);
  REQUIRE(batch.targets.size() == 35);
  for (std::size_t i = 0; i < 35; ++i) {
    CHECK(batch.targets[i] == batch.inputs[i] + 1);
    if (i % 7 > 0) CHECK(batch.inputs[i] == batch.inputs[i - 1] + 1);
  }
}

TEST_CASE("every place of the training part is drawn, and none of the validation part") {
  Windows windows(counting(20), 4, 0.25, 1);
  std::set<int> starts;
  for (int draw = 0; draw < 500; ++draw) starts.insert(windows.training(1).inputs[0]);
  CHECK(starts.size() == 11);
  CHECK(*starts.begin() == 0);
  CHECK(*starts.rbegin() == 10);
}

TEST_CASE("validation windows follow each other, and every token but the first is a target once") {
  const Windows windows(counting(100), 4, 0.22, 1);
  CHECK(windows.training_tokens() == 78);
  CHECK(windows.validation_tokens() == 22);
  REQUIRE(windows.validation_rows() == 6);
  int next = 79;
  for (std::size_t first = 0; first < 6; first += 2) {
    const Batch batch = windows.validation(first, 2);
    CHECK(batch.rows == 2);
    CHECK(batch.inputs.size() == 8);
    for (int target : batch.targets)
      if (next < 100) CHECK(target == next++);
      else CHECK(target == ignore_index);  // the last window is short
  }
  CHECK(next == 100);
  CHECK(windows.validation(5, 2).rows == 1);
  CHECK(windows.validation(5, 2).counted() == 1);
  CHECK(windows.validation(6, 2).rows == 0);
  CHECK(Windows(counting(5), 4, 0, 1).validation_rows() == 0);
}

TEST_CASE("windows restored from their state go on with the same draws; another seed draws others") {
  Windows straight(counting(1000), 8, 0.1, 42), resumed(counting(1000), 8, 0.1, 0);
  straight.training(3);
  resumed.restore(straight.state());
  const Batch expected = straight.training(4);
  CHECK(resumed.training(4).inputs == expected.inputs);
  CHECK(Windows(counting(1000), 8, 0.1, 43).training(4).inputs !=
        Windows(counting(1000), 8, 0.1, 42).training(4).inputs);
}

TEST_CASE("validation draws no random numbers") {
  Windows windows(counting(100), 4, 0.2, 1);
  const std::vector<std::uint64_t> before = windows.state();
  windows.validation(0, 100);
  CHECK(windows.state() == before);
}

TEST_CASE("a text shorter than one window is refused with both numbers") {
  CHECK_THROWS_WITH_AS(Windows(counting(64), 64, 0, 1),
                       "windows: the training part is shorter than one window: 64 < 65 tokens, a context of 64 and one "
                       "target more; use more text or a shorter context",
                       ShapeError);
  CHECK(Windows(counting(65), 64, 0, 1).training(2).inputs.size() == 128);
  CHECK_THROWS_WITH_AS(Windows(std::vector<int>{}, 64, 0, 1),
                       "windows: the training part is shorter than one window: 0 < 65 tokens, a context of 64 and one "
                       "target more; use more text or a shorter context",
                       ShapeError);
  CHECK_THROWS_WITH_AS(Windows(counting(1000), 64, 0.05, 1),
                       "windows: the validation part is shorter than one window: 50 < 65 tokens, a context of 64 and "
                       "one target more; use more text or a shorter context",
                       ShapeError);
  CHECK_THROWS_WITH_AS(Windows(counting(10), 0, 0, 1),
                       "windows: a context of 0 tokens has nothing to predict; use 1 or more", ShapeError);
  CHECK_THROWS_WITH_AS(Windows(counting(10), 2, 1, 1),
                       "windows: the validation part must be a fraction in [0, 1), not 1", ShapeError);
}
