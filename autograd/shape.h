// The extents of a tensor, outermost axis first: (B, T, C). Rank 0 is a scalar with one element.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>

namespace gradus {

class Shape {
 public:
  static constexpr std::size_t max_rank = 5;

  Shape() = default;
  Shape(std::initializer_list<std::size_t> extents) : Shape(std::span(extents.begin(), extents.size())) {}
  // Errors: more than five axes, or a number of elements that does not fit in memory's address range.
  explicit Shape(std::span<const std::size_t> extents);

  std::size_t rank() const { return rank_; }
  std::size_t size() const { return size_; }  // number of elements
  std::size_t operator[](std::size_t axis) const { return extents_[axis]; }

  // The last axis, the one that rows run along. Errors: a scalar has no axis.
  std::size_t back() const;
  // The product of all axes but the last.
  std::size_t rows() const;

  const std::size_t* begin() const { return extents_.data(); }
  const std::size_t* end() const { return extents_.data() + rank_; }

  // This shape with the last axis, or the named one, replaced.
  Shape with_back(std::size_t extent) const;
  Shape with(std::size_t axis, std::size_t extent) const;
  // This shape without the named axis.
  Shape without(std::size_t axis) const;

  bool operator==(const Shape& other) const;
  std::string text() const;  // "(2, 3, 4)"

 private:
  std::array<std::size_t, max_rank> extents_{};
  std::size_t rank_ = 0;
  std::size_t size_ = 1;
};

}  // namespace gradus
