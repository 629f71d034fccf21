// A tensor: a shape, its numbers, perhaps a gradient, and perhaps the record of how it was made.
//
// A Tensor is a handle. Copying it copies the handle, not the numbers: both then name the same tensor.
// Numbers are contiguous and row-major, and every buffer has one owner: there are no views.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "autograd/buffer.h"
#include "autograd/real.h"
#include "autograd/shape.h"

namespace gradus {

struct Node;

// Where a matrix product puts a gradient: C ← product + beta · C. Beta is 0 at first touch and 1 after.
struct GradTarget {
  Real* data;
  Real beta;
};

class Tensor {
 public:
  Tensor() = default;  // names nothing: defined() is false
  // Values are uninitialised. Errors: not enough memory, naming the size.
  explicit Tensor(const Shape& shape);
  // Errors: the number of values is not the shape's.
  Tensor(const Shape& shape, std::span<const Real> values);
  Tensor(const Shape& shape, std::initializer_list<Real> values)
      : Tensor(shape, std::span(values.begin(), values.size())) {}

  static Tensor full(const Shape& shape, double value);
  static Tensor zeros(const Shape& shape) { return full(shape, 0); }
  static Tensor scalar(double value) { return full({}, value); }

  bool defined() const { return node_ != nullptr; }
  const Shape& shape() const;
  std::size_t rank() const { return shape().rank(); }
  std::size_t size() const { return shape().size(); }
  std::size_t extent(std::size_t axis) const;  // errors: no such axis

  // A span of the numbers is good while a handle lives: not in `for (Real v : f(x).values())`, where none does.
  std::span<const Real> values() const;
  std::span<Real> mutable_values();  // counts as a change: see version()
  // The only value. Errors: the tensor has more than one.
  Real item() const;

  // A constant has requires_grad() false and never gets a gradient buffer; a leaf that is made one loses its gradient.
  bool requires_grad() const;
  Tensor& set_requires_grad(bool on = true);

  bool has_grad() const;
  std::span<const Real> grad() const;  // empty where there is none
  std::span<Real> mutable_grad() const;  // zeros at first touch: a backward adds to it
  GradTarget grad_target() const;        // for gradients that a matrix product writes
  void clear_grad();                     // forgets the gradient, and with it its memory

  // Adds d(this)/d(leaf) to the gradient of every leaf that this was computed from, and takes the record apart:
  // a second call is an error. `on_ready(leaf)` is called once a leaf's gradient is complete.
  // There is no double backward.
  // Errors: nothing recorded; more than one value; a saved value was overwritten since.
  void backward(double cotangent = 1, const std::function<void(const Tensor&)>& on_ready = {}) const;
  // The same for a tensor of any shape: `cotangent`, of this tensor's shape, is dL/d(this).
  void backward(const Tensor& cotangent, const std::function<void(const Tensor&)>& on_ready = {}) const;

  // Counts the writes to the values, so that backward can tell whether what it saved is still there.
  std::uint32_t version() const;

  // Handles are equal when they name the same tensor.
  bool operator==(const Tensor& other) const { return node_ == other.node_; }
  Node& node() const;  // errors: this handle names no tensor

 private:
  std::shared_ptr<Node> node_;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// How a recorded tensor was made: autograd/graph.h.
struct Recipe;

struct Node {
  Shape shape;
  Buffer values;
  Buffer grad;
  bool requires_grad = false;
  std::uint32_t version = 0;
  std::uint64_t visited = 0;  // the last sweep that has seen this node
  std::unique_ptr<Recipe> recipe;

  explicit Node(const Shape& extents);
  ~Node();
};

}  // namespace gradus
