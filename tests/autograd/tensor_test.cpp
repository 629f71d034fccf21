#include "autograd/tensor.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/ops/binary.h"

using namespace gradus;

TEST_CASE("A copied handle names the same tensor") {
  const Tensor a({2}, {1, 2});
  Tensor b = a;
  b.mutable_values()[0] = 7;
  CHECK(a.values()[0] == 7);
  CHECK(a == b);
  CHECK(a != Tensor({2}, {7, 2}));
}

TEST_CASE("A tensor holds the numbers it was given, row by row") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(x.rank() == 2);
  CHECK(x.size() == 6);
  CHECK(x.extent(1) == 3);
  CHECK(x.values()[1 * 3 + 2] == 6);
  const Tensor zeros = Tensor::zeros({3}), halves = Tensor::full({3}, 0.5);
  for (Real value : zeros.values()) CHECK(value == 0);
  for (Real value : halves.values()) CHECK(value == 0.5);
}

TEST_CASE("item is the only value, whatever the rank") {
  CHECK(Tensor::scalar(3).item() == 3);
  CHECK(Tensor({1, 1}, {4}).item() == 4);
  CHECK_THROWS_WITH_AS(Tensor::zeros({2, 3}).item(), "item: a tensor of shape (2, 3) has 6 values, not one",
                       ShapeError);
  CHECK_THROWS_WITH_AS(Tensor::zeros({0}).item(), "item: a tensor of shape (0) has 0 values, not one", ShapeError);
}

TEST_CASE("A tensor may be empty") {
  const Tensor x({0, 3});
  CHECK(x.size() == 0);
  CHECK(x.values().empty());
}

TEST_CASE("A handle that names nothing says so at every use") {
  const char* const text = "tensor: this handle names no tensor; give it a shape or assign it first";
  Tensor nothing;
  CHECK_FALSE(nothing.defined());
  CHECK(nothing == Tensor());
  CHECK_THROWS_WITH_AS(nothing.shape(), text, ShapeError);
  CHECK_THROWS_WITH_AS(nothing.values(), text, ShapeError);
  CHECK_THROWS_WITH_AS(nothing.mutable_values(), text, ShapeError);
  CHECK_THROWS_WITH_AS(nothing.grad(), text, ShapeError);
  CHECK_THROWS_WITH_AS(nothing.clear_grad(), text, ShapeError);
  CHECK_THROWS_WITH_AS(nothing.set_requires_grad(), text, ShapeError);
  CHECK_THROWS_WITH_AS(nothing.backward(), text, ShapeError);
  CHECK_THROWS_WITH_AS(op_name(nothing), text, ShapeError);
  CHECK_THROWS_WITH_AS(nothing + Tensor::scalar(1), text, ShapeError);
}

TEST_CASE("A tensor counts its values and its axes, and says both numbers") {
  CHECK_THROWS_WITH_AS(Tensor({2, 2}, {1, 2, 3}), "tensor: shape (2, 2) holds 4 values, 3 were given", ShapeError);
  CHECK_THROWS_WITH_AS(Tensor::zeros({2, 3}).extent(2), "tensor: axis 2 of (2, 3) does not exist", ShapeError);
}

#ifndef GRADUS_SANITIZED  // the sanitizers' own allocators end the program
TEST_CASE("A tensor larger than the machine's memory is refused with its size") {
  const std::size_t wide = std::size_t{1} << 29;
  const std::string bytes = std::to_string(wide * wide * sizeof(Real));
  CHECK_THROWS_WITH_AS(
      Tensor({wide, wide}),
      ("tensor: (536870912, 536870912) needs " + bytes + " bytes, more than this machine can give").c_str(),
      std::runtime_error);
}
#endif

TEST_CASE("Every write is counted, and no read is") {
  Tensor x = Tensor::zeros({2});
  const std::uint32_t before = x.version();
  (void)x.values();
  (void)x.shape();
  CHECK(x.version() == before);
  x.mutable_values()[0] = 1;
  CHECK(x.version() == before + 1);
}

TEST_CASE("A gradient is zero at first touch, stays, and can be forgotten") {
  Tensor x = Tensor::zeros({2}).set_requires_grad();
  CHECK_FALSE(x.has_grad());
  CHECK(x.grad().empty());
  x.mutable_grad()[1] = 3;
  CHECK(x.grad()[0] == 0);
  x.mutable_grad()[1] += 1;
  CHECK(x.grad()[1] == 4);
  x.clear_grad();
  CHECK_FALSE(x.has_grad());
  CHECK(x.mutable_grad()[1] == 0);
}

TEST_CASE("A matrix product overwrites a gradient at first touch and adds from then on") {
  const Tensor x = Tensor::zeros({2}).set_requires_grad();
  CHECK(x.grad_target().beta == 0);
  CHECK(x.grad_target().beta == 1);
  CHECK(x.grad_target().data == x.grad().data());
}

TEST_CASE("A constant has no gradient to write to") {
  const Tensor x = Tensor::zeros({2, 3});
  CHECK_THROWS_WITH_AS(x.mutable_grad(),
                       "gradient: a constant of shape (2, 3) has none; call set_requires_grad() before it is used",
                       ShapeError);
  CHECK_FALSE(x.has_grad());
}

// A frozen weight with last step's gradient would still be moved by an optimizer.
TEST_CASE("A leaf that is made constant loses its gradient") {
  Tensor x = Tensor::zeros({2}).set_requires_grad();
  x.mutable_grad()[0] = 1;
  x.set_requires_grad(false);
  CHECK_FALSE(x.has_grad());
}

TEST_CASE("Only a leaf can be made constant or not") {
  Tensor y = Tensor::scalar(1).set_requires_grad() + Tensor::scalar(2);
  CHECK_THROWS_WITH_AS(y.set_requires_grad(false),
                       "requires_grad: this tensor was computed by add; only a leaf can be switched on or off",
                       ShapeError);
}
