#include "autograd/broadcast.h"

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "autograd/error.h"

using namespace gradus;

TEST_CASE("Shapes are aligned at the last axis, and an extent of 1 or none is repeated") {
  CHECK(broadcast("op", {2, 3}, {2, 3}).shape == Shape{2, 3});
  CHECK(broadcast("op", {2, 3}, {3}).shape == Shape{2, 3});
  CHECK(broadcast("op", {2, 1}, {1, 3}).shape == Shape{2, 3});
  CHECK(broadcast("op", {}, {2, 3}).shape == Shape{2, 3});
  CHECK(broadcast("op", {}, {}).shape == Shape{});
  CHECK(broadcast("op", {8, 1, 6, 1}, {7, 1, 5}).shape == Shape{8, 7, 6, 5});  // NumPy's manual
}

TEST_CASE("An empty axis broadcasts with 1 to an empty one") {
  CHECK(broadcast("op", {0}, {1}).shape == Shape{0});
  CHECK(broadcast("op", {3, 1}, {1, 0}).shape == Shape{3, 0});
  CHECK_THROWS_AS(broadcast("op", {0}, {3}), ShapeError);
}

TEST_CASE("The walk meets every output once, at the inputs that its indices name") {
  const std::array<Shape, 6> shapes{Shape{}, Shape{4}, Shape{3, 1}, Shape{3, 4}, Shape{2, 1, 1}, Shape{2, 3, 4}};
  const auto offset = [](const Shape& input, const std::array<std::size_t, 3>& index) {
    std::size_t at = 0;
    for (std::size_t axis = 0; axis < input.rank(); ++axis)
      at = at * input[axis] + (input[axis] == 1 ? 0 : index[3 - input.rank() + axis]);
    return at;
  };
  for (const Shape& a : shapes)
    for (const Shape& b : shapes) {
      const BroadcastPlan plan = broadcast("op", a, b);
      std::vector<int> met(plan.shape.size(), 0);
      for_each_run(plan, [&](std::size_t at_y, std::size_t at_a, std::size_t at_b, std::size_t count,
                             std::size_t step_a, std::size_t step_b) {
        for (std::size_t i = 0; i < count; ++i) {
          ++met[at_y + i];
          std::array<std::size_t, 3> index{};
          std::size_t rest = at_y + i;
          for (std::size_t axis = plan.shape.rank(); axis-- > 0; rest /= plan.shape[axis])
            index[3 - plan.shape.rank() + axis] = rest % plan.shape[axis];
          CHECK(at_a + i * step_a == offset(a, index));
          CHECK(at_b + i * step_b == offset(b, index));
        }
      });
      for (int times : met) CHECK(times == 1);
    }
}

TEST_CASE("An empty output is not walked") {
  int runs = 0;
  for_each_run(broadcast("op", {2, 0}, {1}), [&](auto...) { ++runs; });
  CHECK(runs == 0);
}

TEST_CASE("Shapes that do not broadcast are named, with the extents that differ") {
  CHECK_THROWS_WITH_AS(
      broadcast("add", {2, 3}, {2, 4}),
      "add: shapes (2, 3) and (2, 4) do not broadcast: extents 3 and 4 differ and neither is 1; reshape one "
      "of them",
      ShapeError);
}
