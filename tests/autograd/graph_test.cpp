#include "autograd/graph.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/buffer.h"
#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/binary.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"

using namespace gradus;

static Tensor leaf(double value) { return Tensor::scalar(value).set_requires_grad(); }

static const char* const used_text =
    "backward: the graph through mul was used by an earlier backward(), which took it apart; compute the result again, "
    "or "
    "add the losses and call backward() once";

// Walking each child recursively, instead of latest first, reads d before both of its terms have arrived.
TEST_CASE("A tensor that is used twice passes on the sum of both gradients") {
  const Tensor a = leaf(-2), b = leaf(3);
  const Tensor d = a * b, e = a + b, f = d * e;
  f.backward();
  CHECK(f.item() == -6);
  CHECK(a.grad()[0] == -3);
  CHECK(b.grad()[0] == -8);

  const Tensor x = leaf(2), y = x * x;
  (y + y).backward();
  CHECK(x.grad()[0] == 8);
}

TEST_CASE("Operations run backward in the reverse of the order in which they were recorded") {
  std::string order;
  const auto noted = [&](const char* name, const Tensor& x) {
    return record(Tensor::scalar(0), name, {x}, [&order, name, x](const Tensor& out) {
      order += name;
      x.mutable_grad()[0] += out.grad()[0];
    });
  };
  const Tensor x = leaf(1), a = noted("a", x), b = noted("b", a), c = noted("c", a), d = noted("d", b);
  (c + d).backward();
  CHECK(order == "dcba");
  CHECK(x.grad()[0] == 2);
}

TEST_CASE("A second backward through the same graph is refused and leaves the gradients alone") {
  Tensor x = leaf(3);
  const Tensor y = x * x * x;
  y.backward();
  CHECK(x.grad()[0] == 27);
  CHECK_THROWS_WITH_AS(y.backward(), used_text, ShapeError);
  CHECK(x.grad()[0] == 27);
}

TEST_CASE("Gradients of a graph that is computed again add up until they are cleared") {
  Tensor x = leaf(3);
  (x * x * x).backward();
  (x * x * x).backward();
  CHECK(x.grad()[0] == 54);
  x.clear_grad();
  (x * x * x).backward();
  CHECK(x.grad()[0] == 27);
}

TEST_CASE("A part shared with an earlier backward is refused") {
  const Tensor x = leaf(3), shared = x * x;
  const Tensor first = shared + x, second = exp(shared);
  first.backward();
  CHECK_THROWS_WITH_AS(second.backward(), used_text, ShapeError);
  CHECK(x.grad()[0] == 7);
}

TEST_CASE("Five equal rounds give five equal gradients") {
  Rng rng(5);
  Tensor x = random_uniform({4, 3}, rng).set_requires_grad(), w = random_uniform({3}, rng).set_requires_grad();
  std::vector<std::vector<Real>> rounds;
  for (int round = 0; round < 5; ++round) {
    sum(tanh(x * w) * x).backward();
    rounds.emplace_back(x.grad().begin(), x.grad().end()).insert(rounds.back().end(), w.grad().begin(), w.grad().end());
    x.clear_grad();
    w.clear_grad();
  }
  for (const auto& round : rounds) CHECK(round == rounds[0]);
}

TEST_CASE("An input that was overwritten before backward is an error that names the operation") {
  Tensor x({2}, {1, 2});
  x.set_requires_grad();
  const Tensor y = sum(exp(x));
  x.mutable_values()[0] = 5;
  CHECK_THROWS_WITH_AS(
      y.backward(),
      "backward: an input of exp, of shape (2), was overwritten after it was used; call backward() before "
      "the write, or write to a copy",
      ShapeError);
}

TEST_CASE("An output that was overwritten before backward is an error that names the operation") {
  const Tensor x = leaf(1);
  Tensor y = exp(x);
  y.mutable_values()[0] = 5;
  CHECK_THROWS_WITH_AS(
      y.backward(), "backward: the output of exp, of shape (), was overwritten after it was computed; write to a copy",
      ShapeError);
}

// What a sweep that stopped half-way has left in the gradients of intermediate results must not reach a later one.
TEST_CASE("A graph whose backward failed cannot be used again") {
  Tensor x = leaf(1), w = leaf(2);
  const Tensor early = exp(w), h = x * early, late = h + x;
  w.mutable_values()[0] = 3;
  CHECK_THROWS_AS(late.backward(), ShapeError);
  CHECK_THROWS_WITH_AS(exp(h).backward(), used_text, ShapeError);
}

TEST_CASE("Under NoGrad nothing is recorded, and the guard ends with its scope") {
  const Tensor x = leaf(2);
  {
    const NoGrad outer;
    { const NoGrad inner; }
    CHECK_FALSE(grad_enabled());
    const Tensor y = x * x;
    CHECK_FALSE(y.requires_grad());
    CHECK(op_name(y) == "leaf");
    CHECK_THROWS_WITH_AS(y.backward(), "backward: nothing was recorded; no input has requires_grad(), or NoGrad was on",
                         ShapeError);
  }
  CHECK(grad_enabled());
  CHECK((x * x).requires_grad());
  CHECK(op_name(x * x) == "mul");
}

TEST_CASE("A constant never gets a gradient, and what has only constants is not recorded") {
  const Tensor x = leaf(2), c = Tensor::scalar(3);
  const Tensor only_constants = c * c;
  CHECK_FALSE(only_constants.requires_grad());
  (x * only_constants + c).backward();
  CHECK(x.grad()[0] == 9);
  CHECK_FALSE(c.has_grad());
  CHECK_FALSE(only_constants.has_grad());
}

TEST_CASE("Intermediate gradients are gone after backward, and so is what backward had saved") {
  const auto saved = std::make_shared<int>(0);
  const Tensor x = leaf(2), middle = exp(x);
  const Tensor y = record(Tensor::scalar(1), "test", {middle}, [middle, saved](const Tensor& out) {
    middle.mutable_grad()[0] += out.grad()[0];
  });
  CHECK(saved.use_count() == 2);
  y.backward();
  CHECK(saved.use_count() == 1);
  CHECK_FALSE(y.has_grad());
  CHECK_FALSE(middle.has_grad());
  CHECK(x.has_grad());
}

TEST_CASE("A graph that dies without backward frees all that it held") {
  const auto saved = std::make_shared<int>(0);
  {
    const Tensor x = leaf(2), middle = exp(x);
    const Tensor y = record(Tensor::scalar(1), "test", {middle}, [middle, saved](const Tensor&) {});
  }
  CHECK(saved.use_count() == 1);

  const auto round = [] {
    Tensor y = Tensor::full({1000}, 1).set_requires_grad();
    for (int i = 0; i < 20; ++i) y = tanh(y * y);
  };
  round();
  const std::size_t before = buffer_bytes_reserved();
  for (int i = 0; i < 10; ++i) round();
  CHECK(buffer_bytes_reserved() == before);
}

TEST_CASE("A training step after the first takes no memory from the system") {
  Rng rng(6);
  Tensor w = random_uniform({300}, rng).set_requires_grad();
  const Tensor x = random_uniform({20, 300}, rng);
  const auto step = [&] {
    mean(tanh(x * w) * x).backward();
    w.clear_grad();
  };
  step();
  const std::size_t before = buffer_bytes_reserved();
  for (int i = 0; i < 10; ++i) step();
  CHECK(buffer_bytes_reserved() == before);
}

TEST_CASE("on_ready is called once for each leaf, when its gradient is complete") {
  const Tensor a = leaf(2), b = leaf(3), c = Tensor::scalar(4);
  const Tensor y = a * a * b + c * a + b;
  std::map<const Node*, std::vector<Real>> called;
  y.backward(1, [&](const Tensor& ready) { called[&ready.node()].push_back(ready.grad()[0]); });
  CHECK(called.size() == 2);
  CHECK(called[&a.node()] == std::vector<Real>{2 * 2 * 3 + 4});
  CHECK(called[&b.node()] == std::vector<Real>{2 * 2 + 1});
}

TEST_CASE("on_ready comes early for a leaf that only late operations read") {
  const Tensor early = leaf(2), late = leaf(3);
  const Tensor y = exp(exp(early)) * late;
  std::vector<bool> early_is_done;
  y.backward(1, [&](const Tensor&) { early_is_done.push_back(early.has_grad()); });
  CHECK(early_is_done == std::vector<bool>{false, true});
}

TEST_CASE("A leaf is its own result: backward adds the cotangent") {
  const Tensor x = leaf(2);
  int calls = 0;
  x.backward(5, [&](const Tensor&) { ++calls; });
  x.backward(1);
  CHECK(x.grad()[0] == 6);
  CHECK(calls == 1);
}

TEST_CASE("A cotangent weighs the elements of the result") {
  Tensor x({3}, {1, 2, 3});
  x.set_requires_grad();
  (x * x).backward(Tensor({3}, {1, 0, -1}));
  CHECK(x.grad()[0] == 2);
  CHECK(x.grad()[1] == 0);
  CHECK(x.grad()[2] == -6);
}

TEST_CASE("A result that is not one number needs a cotangent of its shape") {
  const Tensor x = Tensor::zeros({2, 3}).set_requires_grad();
  CHECK_THROWS_WITH_AS(
      (x * x).backward(),
      "backward: a result of shape (2, 3) is not one number; reduce it to one, or pass a cotangent of its "
      "shape",
      ShapeError);
  CHECK_THROWS_WITH_AS((x * x).backward(Tensor::zeros({3})),
                       "backward: the cotangent (3) must have the shape of the result (2, 3)", ShapeError);
}

// y = block(x) that keeps only x and computes the rest a second time inside the sweep.
static Tensor recomputed(const Tensor& x, const Tensor& w) {
  const auto block = [](const Tensor& u, const Tensor& v) { return tanh(u * v) * v; };
  std::optional<NoGrad> guard(std::in_place);
  const Tensor y = block(x, w);
  guard.reset();
  return record(y, "recomputed", {x, w}, [block, x, w](const Tensor& out) {
    const Tensor copy = Tensor(x.shape(), x.values()).set_requires_grad();
    block(copy, w).backward(Tensor(out.shape(), out.grad()));
    const std::span<Real> dx = x.mutable_grad();
    for (std::size_t i = 0; i < dx.size(); ++i) dx[i] += copy.grad()[i];
  });
}

TEST_CASE("A block may be computed again, with a backward of its own, inside the sweep") {
  Rng rng(7);
  const Tensor start = random_uniform({5}, rng), weight = random_uniform({5}, rng);
  const auto gradients = [&](bool again) {
    const Tensor x = Tensor({5}, start.values()).set_requires_grad(),
                 w = Tensor({5}, weight.values()).set_requires_grad();
    Tensor y = x;
    for (int layer = 0; layer < 3; ++layer) y = again ? recomputed(y, w) : tanh(y * w) * w;
    sum(y).backward();
    std::vector<double> all(x.grad().begin(), x.grad().end());
    all.insert(all.end(), w.grad().begin(), w.grad().end());
    return all;
  };
  const std::vector<double> expected = gradients(false), found = gradients(true);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
}

TEST_CASE("A backward inside the sweep cannot run into the graph that is being swept") {
  const Tensor x = leaf(2), h = x * x;
  const Tensor y = record(Tensor::scalar(0), "careless", {h}, [h](const Tensor&) { exp(h).backward(); });
  CHECK_THROWS_WITH_AS(y.backward(), used_text, ShapeError);
}

TEST_CASE("An output is recorded once") {
  const Tensor x = leaf(2), y = exp(x);
  CHECK_THROWS_WITH_AS(record(y, "second", {x}, [](const Tensor&) {}),
                       "second: its output was already recorded by exp; an operation makes a new tensor", ShapeError);
}
