#include "autograd/ops/embedding.h"

#include <doctest/doctest.h>

#include <vector>

#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "autograd/parallel.h"

using namespace gradus;

using Reals = std::vector<Real>;
static Reals list(std::span<const Real> values) { return {values.begin(), values.end()}; }

TEST_CASE("embedding looks rows up in the order of the ids") {
  const int ids[] = {2, 0, 2};
  const Tensor y = embedding(Tensor({3, 2}, {1, 2, 3, 4, 5, 6}), ids);
  CHECK(y.shape() == Shape{3, 2});
  CHECK(list(y.values()) == Reals{5, 6, 1, 2, 5, 6});
}

TEST_CASE("a row's gradient is the sum over all the places of its id") {
  const int ids[] = {1, 1, 3, 1};
  Tensor table = Tensor::zeros({4, 2}).set_requires_grad();
  embedding(table, ids).backward(Tensor::full({4, 2}, 1));
  CHECK(list(table.grad()) == Reals{0, 0, 3, 3, 0, 0, 1, 1});
}

TEST_CASE("the scatter-add gives the same bytes on one thread and on three") {
  Rng rng(1);
  const std::size_t threads = thread_count(), N = 5000, C = 33;
  std::vector<int> ids(N);
  for (int& id : ids) id = static_cast<int>(rng.below(7));
  Tensor table = random_uniform({7, C}, rng).set_requires_grad();
  const Tensor cotangent = random_uniform({N, C}, rng);
  Reals gradients[2];
  for (const std::size_t round : {0, 1}) {
    set_thread_count(round == 0 ? 1 : 3);
    embedding(table, ids).backward(cotangent);
    gradients[round] = list(table.grad());
    table.clear_grad();
  }
  set_thread_count(threads);
  CHECK(gradients[0] == gradients[1]);
}

TEST_CASE("no ids give no rows") { CHECK(embedding(Tensor({4, 2}), {}).shape() == Shape{0, 2}); }

TEST_CASE("an id without a row is named, with its place and the size of the vocabulary") {
  CHECK_THROWS_WITH_AS(embedding(Tensor({4, 2}), std::vector<int>{0, 3, 4}),
                       "embedding: id 4 at place 2 has no row in a table of V = 4; ids are 0 … V − 1, so tokenizer and "
                       "model must have the same vocabulary",
                       ShapeError);
  CHECK_THROWS_AS(embedding(Tensor({4, 2}), std::vector<int>{-1}), ShapeError);
  CHECK_THROWS_WITH_AS(embedding(Tensor({8}), std::vector<int>{0}),
                       "embedding: the table (8) must have two axes, (V, C)", ShapeError);
}
