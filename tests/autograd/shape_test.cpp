#include "autograd/shape.h"

#include <doctest/doctest.h>

#include "autograd/error.h"

using namespace gradus;

TEST_CASE("A shape without axes is a scalar with one element") {
  CHECK(Shape{}.rank() == 0);
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{}.rows() == 1);
  CHECK(Shape{}.text() == "()");
}

TEST_CASE("A shape's size is the product of its extents, rows times the last axis") {
  const Shape shape{2, 3, 4};
  CHECK(shape.size() == 24);
  CHECK(shape.rows() == 6);
  CHECK(shape.back() == 4);
  CHECK(shape[1] == 3);
  CHECK(shape.text() == "(2, 3, 4)");
}

TEST_CASE("An extent of 0 makes the size 0, however large the others are") {
  CHECK(Shape{std::size_t{1} << 40, std::size_t{1} << 40, 0}.size() == 0);
  CHECK(Shape{0, 3}.rows() == 0);
}

TEST_CASE("Sizes are counted in 64 bits") { CHECK(Shape{70000, 70000}.size() == 4'900'000'000); }

TEST_CASE("A size that no memory can address is refused, even where the product would wrap around") {
  const std::size_t wide = std::size_t{1} << 32;
  CHECK_THROWS_WITH_AS((Shape{wide, wide}), "shape: (4294967296, 4294967296) has more elements than memory can address",
                       ShapeError);
  CHECK_THROWS_AS((Shape{wide, wide, 2, 3}), ShapeError);
  CHECK_THROWS_AS((Shape{std::size_t{1} << 61}), ShapeError);
}

TEST_CASE("Shapes are equal when rank and extents are") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK(Shape{2, 3} != Shape{3, 2});
  CHECK(Shape{2} != Shape{2, 1});
  CHECK(Shape{} != Shape{1});
}

TEST_CASE("Replacing an axis keeps the others and counts anew") {
  const Shape shape{2, 3, 4};
  CHECK(shape.with(0, 5) == Shape{5, 3, 4});
  CHECK(shape.with(0, 5).size() == 60);
  CHECK(shape.with_back(1) == Shape{2, 3, 1});
  CHECK(shape.without(1) == Shape{2, 4});
  CHECK(shape.without(1).size() == 8);
  CHECK(Shape{0, 3}.without(0).size() == 3);
}

TEST_CASE("A shape says which axis it lacks") {
  CHECK_THROWS_WITH_AS((Shape{1, 2, 3, 4, 5, 6}),
                       "shape: (1, 2, 3, 4, 5, 6) has 6 axes, at most 5 are supported; merge some with reshape",
                       ShapeError);
  CHECK_THROWS_WITH_AS(Shape{}.back(), "shape: a scalar has no last axis; reshape it to (1)", ShapeError);
  CHECK_THROWS_WITH_AS(Shape{}.with_back(2), "shape: a scalar has no last axis; reshape it to (1)", ShapeError);
  CHECK_THROWS_WITH_AS((Shape{2, 3}.with(2, 1)), "shape: axis 2 of (2, 3) does not exist", ShapeError);
  CHECK_THROWS_WITH_AS((Shape{2, 3}.without(2)), "shape: axis 2 of (2, 3) does not exist", ShapeError);
}
