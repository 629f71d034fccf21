#include "autograd/shape.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "autograd/error.h"

namespace gradus {

static std::string list(std::span<const std::size_t> extents) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    text += (axis == 0 ? "" : ", ") + std::to_string(extents[axis]);
  return text + ")";
}

Shape::Shape(std::span<const std::size_t> extents) : rank_(extents.size()) {
  expect(rank_ <= max_rank, "shape: {} has {} axes, at most {} are supported; merge some with reshape",
         list(extents), rank_, max_rank);
  std::copy(extents.begin(), extents.end(), extents_.begin());
  constexpr std::size_t limit = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double);
  // An extent of 0 makes the whole product 0, wherever it stands.
  if (std::find(extents.begin(), extents.end(), std::size_t{0}) != extents.end()) {
    size_ = 0;
    return;
  }
  for (std::size_t extent : extents) {
    expect(size_ <= limit / extent, "shape: {} has more elements than memory can address", list(extents));
    size_ *= extent;
  }
}

std::size_t Shape::back() const {
  expect(rank_ > 0, "shape: a scalar has no last axis; reshape it to (1)");
  return extents_[rank_ - 1];
}

std::size_t Shape::rows() const {
  std::size_t product = 1;
  for (std::size_t axis = 0; axis + 1 < rank_; ++axis) product *= extents_[axis];
  return product;
}

Shape Shape::with_back(std::size_t extent) const {
  expect(rank_ > 0, "shape: a scalar has no last axis; reshape it to (1)");
  return with(rank_ - 1, extent);
}

Shape Shape::with(std::size_t axis, std::size_t extent) const {
  expect(axis < rank_, "shape: axis {} of {} does not exist", axis, *this);
  auto extents = extents_;
  extents[axis] = extent;
  return Shape(std::span(extents.data(), rank_));
}

Shape Shape::without(std::size_t axis) const {
  expect(axis < rank_, "shape: axis {} of {} does not exist", axis, *this);
  auto extents = extents_;
  std::copy(extents.begin() + static_cast<std::ptrdiff_t>(axis) + 1, extents.end(),
            extents.begin() + static_cast<std::ptrdiff_t>(axis));
  return Shape(std::span(extents.data(), rank_ - 1));
}

bool Shape::operator==(const Shape& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

std::string Shape::text() const { return list(std::span(begin(), rank_)); }

}  // namespace gradus
