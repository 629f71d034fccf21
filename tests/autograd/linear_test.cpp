#include "autograd/ops/linear.h"

#include <doctest/doctest.h>


#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/matmul.h"

using namespace gradus;

TEST_CASE("linear multiplies each row by the transposed weight and adds the bias") {
  const Tensor x({2, 3}, {1, 2, 3, -1, 0, 1}), weight({2, 3}, {1, 0, -1, 2, 1, 0}), bias({2}, {10, 20});
  const Tensor y = linear(x, weight, bias);
  CHECK(y.shape() == Shape{2, 2});
  const Real expected[] = {8, 24, 8, 18};
  for (std::size_t i = 0; i < 4; ++i) CHECK(y.values()[i] == expected[i]);
}

TEST_CASE("linear does not care how the rows are arranged") {
  Rng rng(1);
  const Tensor weight = random_uniform({5, 4}, rng), x = random_uniform({6, 4}, rng);
  const Tensor flat = linear(x, weight), deep = linear(Tensor({2, 3, 4}, x.values()), weight);
  CHECK(deep.shape() == Shape{2, 3, 5});
  CHECK(linear(Tensor({4}, x.values().first(4)), weight).shape() == Shape{5});
  for (std::size_t i = 0; i < flat.size(); ++i) CHECK(flat.values()[i] == deep.values()[i]);
}

TEST_CASE("linear without a bias is matmul with the transposed weight, values and gradients") {
  Rng rng(2);
  Tensor x1 = random_uniform({6, 4}, rng), w1 = random_uniform({5, 4}, rng);
  Tensor x2({6, 4}, x1.values()), w2({5, 4}, w1.values());
  const Tensor cotangent = random_uniform({6, 5}, rng);
  for (Tensor* leaf : {&x1, &w1, &x2, &w2}) leaf->set_requires_grad();
  const Tensor y1 = linear(x1, w1), y2 = matmul(x2, w2, Op::none, Op::transpose);
  y1.backward(cotangent);
  y2.backward(cotangent);
  for (std::size_t i = 0; i < y1.size(); ++i) CHECK(y1.values()[i] == doctest::Approx(y2.values()[i]));
  for (std::size_t i = 0; i < x1.size(); ++i) CHECK(x1.grad()[i] == doctest::Approx(x2.grad()[i]));
  for (std::size_t i = 0; i < w1.size(); ++i) CHECK(w1.grad()[i] == doctest::Approx(w2.grad()[i]));
}

// Float sums of many equal numbers stop growing where one more is less than half a unit in the last place.
TEST_CASE("the bias's gradient counts every one of many rows") {
  const std::size_t rows = 3'000'000;
  Tensor bias = Tensor::zeros({1}).set_requires_grad();
  linear(Tensor::zeros({rows, 1}), Tensor::zeros({1, 1}), bias).backward(Tensor::full({rows, 1}, 0.1));
  CHECK(bias.grad()[0] == doctest::Approx(300000).epsilon(1e-6));
}

TEST_CASE("linear refuses shapes that do not fit, and says them") {
  CHECK_THROWS_WITH_AS(linear(Tensor({2, 3}), Tensor({3, 4})),
                       "linear: the last axis of x (2, 3) must match the last axis of weight (3, 4), (out, in); is the "
                       "weight transposed?",
                       ShapeError);
  CHECK_THROWS_WITH_AS(linear(Tensor({2, 3}), Tensor({3})), "linear: weight (3) must have two axes, (out, in)",
                       ShapeError);
  CHECK_THROWS_WITH_AS(linear(Tensor({2, 3}), Tensor({4, 3}), Tensor({3})),
                       "linear: bias (3) must match the first axis of weight (4, 3): (4)", ShapeError);
}
