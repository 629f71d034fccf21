#include "autograd/ops/embedding.h"

#include <algorithm>
#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

static void embedding_backward(const Tensor& y, const Tensor& table, std::span<const int> ids);

// y[i] = table[ids[i]], a row of C numbers
Tensor embedding(const Tensor& table, std::span<const int> ids) {
  expect(table.rank() == 2, "embedding: the table {} must have two axes, (V, C)", table.shape());
  const std::size_t V = table.extent(0), C = table.extent(1);
  for (std::size_t i = 0; i < ids.size(); ++i)
    expect(ids[i] >= 0 && static_cast<std::size_t>(ids[i]) < V,
           "embedding: id {} at place {} has no row in a table of V = {}; ids are 0 … V − 1, so tokenizer and model "
           "must have the same vocabulary",
           ids[i], i, V);

  Tensor y({ids.size(), C});
  const Real* const table_values = table.values().data();
  Real* const Y = y.mutable_values().data();
  parallel_for(ids.size(), C, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      std::copy_n(table_values + static_cast<std::size_t>(ids[i]) * C, C, Y + i * C);
  });

  return record(y, "embedding", {table}, [table, own_ids = std::vector(ids.begin(), ids.end())](const Tensor& out) {
    embedding_backward(out, table, own_ids);
  });
}

// A row receives a term from every token that read it:
//   dtable[ids[i]] += dy[i]
// Threads share out the columns, not the tokens: two tokens may add to the same row, never to the same column of two
// threads.
static void embedding_backward(const Tensor& y, const Tensor& table, std::span<const int> ids) {
  const std::size_t C = table.extent(1);
  const Real* const DY = y.grad().data();
  Real* const D = table.mutable_grad().data();
  parallel_for(C, ids.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const Real* const dy = DY + i * C;
      Real* const drow = D + static_cast<std::size_t>(ids[i]) * C;
      for (std::size_t c = begin; c < end; ++c) drow[c] += dy[c];
    }
  });
}

}  // namespace gradus
