#include "autograd/dot.h"

#include <doctest/doctest.h>

#include "autograd/ops/binary.h"
#include "autograd/ops/pointwise.h"

using namespace gradus;

TEST_CASE("The picture of x y + x has a node for each tensor and an arrow for each use") {
  const Tensor x = Tensor::zeros({2, 3}).set_requires_grad(), y = Tensor::zeros({3});
  CHECK(graph_as_dot(x * y + x) == R"dot(digraph gradus {
  rankdir=LR;
  n0 [shape=ellipse, label="add\n(2, 3)"];
  n1 [shape=ellipse, label="mul\n(2, 3)"];
  n2 [shape=box, label="leaf\n(2, 3)"];
  n3 [shape=box, label="constant\n(3)"];
  n1 -> n0;
  n2 -> n0;
  n2 -> n1;
  n3 -> n1;
}
)dot");
}

TEST_CASE("The picture of a leaf is one box, and a square has two arrows from its factor") {
  const Tensor x = Tensor::scalar(1).set_requires_grad();
  CHECK(graph_as_dot(x) == "digraph gradus {\n  rankdir=LR;\n  n0 [shape=box, label=\"leaf\\n()\"];\n}\n");
  const std::string square = graph_as_dot(x * x);
  const std::size_t first = square.find("n1 -> n0;");
  CHECK(first != std::string::npos);
  CHECK(square.find("n1 -> n0;", first + 1) != std::string::npos);
}
