#include "autograd/tensor.h"

#include <algorithm>
#include <new>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

static Buffer allocate(const Shape& shape) {
  try {
    return Buffer(shape.size());
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(message("tensor: {} needs {} bytes, more than this machine can give", shape,
                                     shape.size() * sizeof(Real)));
  }
}

Node::Node(const Shape& extents) : shape(extents), values(allocate(extents)) {}

Tensor::Tensor(const Shape& shape) : node_(std::make_shared<Node>(shape)) {}

Tensor::Tensor(const Shape& shape, std::span<const Real> values) : Tensor(shape) {
  expect(values.size() == shape.size(), "tensor: shape {} holds {} values, {} were given", shape, shape.size(),
         values.size());
  std::copy(values.begin(), values.end(), mutable_values().begin());
}

Tensor Tensor::full(const Shape& shape, double value) {
  Tensor tensor(shape);
  std::ranges::fill(tensor.mutable_values(), static_cast<Real>(value));
  return tensor;
}

Node& Tensor::node() const {
  expect(defined(), "tensor: this handle names no tensor; give it a shape or assign it first");
  return *node_;
}

const Shape& Tensor::shape() const { return node().shape; }

std::size_t Tensor::extent(std::size_t axis) const {
  expect(axis < rank(), "tensor: axis {} of {} does not exist", axis, shape());
  return shape()[axis];
}

std::span<const Real> Tensor::values() const { return {node().values.data(), size()}; }

std::span<Real> Tensor::mutable_values() {
  ++node().version;
  return {node_->values.data(), size()};
}

Real Tensor::item() const {
  expect(size() == 1, "item: a tensor of shape {} has {} values, not one", shape(), size());
  return values()[0];
}

bool Tensor::requires_grad() const { return node().requires_grad; }

Tensor& Tensor::set_requires_grad(bool on) {
  expect(node().recipe == nullptr,
         "requires_grad: this tensor was computed by {}; only a leaf can be switched on or off", op_name(*this));
  node_->requires_grad = on;
  if (!on) clear_grad();
  return *this;
}

bool Tensor::has_grad() const { return node().grad.allocated(); }

std::span<const Real> Tensor::grad() const {
  return {node().grad.data(), has_grad() ? size() : 0};
}

std::span<Real> Tensor::mutable_grad() const {
  const GradTarget target = grad_target();
  if (target.beta == 0)
    parallel_for(size(), 1, [&](std::size_t begin, std::size_t end) {
      std::fill(target.data + begin, target.data + end, Real{0});
    });
  return {target.data, size()};
}

GradTarget Tensor::grad_target() const {
  expect(requires_grad(), "gradient: a constant of shape {} has none; call set_requires_grad() before it is used",
         shape());
  const Real beta = has_grad() ? Real{1} : Real{0};
  if (!has_grad()) node_->grad = allocate(shape());
  return {node_->grad.data(), beta};
}

void Tensor::clear_grad() { node().grad = Buffer(); }

std::uint32_t Tensor::version() const { return node().version; }

}  // namespace gradus
