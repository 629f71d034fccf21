#include "autograd/ops/matmul.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(matmul) {
  for (Op op_a : {Op::none, Op::transpose})
    for (Op op_b : {Op::none, Op::transpose})
      for (const Shape& batch : {Shape{}, Shape{1}, Shape{2, 3}}) {
        const auto matrix = [&](Op op, std::size_t rows, std::size_t columns) {
          std::vector<std::size_t> extents(batch.begin(), batch.end());
          extents.push_back(op == Op::none ? rows : columns);
          extents.push_back(op == Op::none ? columns : rows);
          return table.uniform(Shape(extents));
        };
        const Tensor a = matrix(op_a, 3, 4), b = matrix(op_b, 4, 2);
        table.check({{"a", a}, {"b", b}}, [=] { return matmul(a, b, op_a, op_b); });
      }
  const Tensor row = table.uniform({1, 5}), column = table.uniform({5, 1}), square = table.uniform({3, 3});
  table.check({{"a", row}, {"b", column}}, [=] { return matmul(row, column); });
  table.check({{"a", column}, {"b", row}}, [=] { return matmul(column, row); });
  table.check({{"x", square}}, [=] { return matmul(square, square); });
}
