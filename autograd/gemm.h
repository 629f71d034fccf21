// The matrix product, C ← alpha · op(A) · op(B) + beta · C, row-major, where op is the identity or the transpose.
//
// BLAS does it where a BLAS was found at configuration; a plain loop is always there as the oracle and the
// fallback. BLAS is only ever called one-threaded: C is cut over our own parallel loop, so no second pool of
// threads exists and it does not matter how the machine's BLAS was built.
#pragma once

#include <cstddef>
#include <string>

#include "autograd/real.h"

namespace gradus {

enum class Op { none, transpose };

// The extents of a product: op(A) is (m, k), op(B) is (k, n), C is (m, n). A leading dimension is the distance
// between two rows as they lie in memory, so a block of a larger matrix can be read or written in place.
struct Gemm {
  Op op_a = Op::none;
  Op op_b = Op::none;
  std::size_t m, n, k;
  const Real* a;
  std::size_t a_stride;
  const Real* b;
  std::size_t b_stride;
  Real* c;
  std::size_t c_stride;
  Real alpha = 1;
  Real beta = 0;  // 0: C is not read, so it may hold anything
};

// Cut over the threads, unless called inside a parallel loop.
// Errors: an extent is more than BLAS can count; a leading dimension is shorter than a row.
void gemm(const Gemm& product);
void gemm_plain(const Gemm& product);  // the definition, in plain loops on one thread

// The library, its version and the kernel it chose for this processor, in one line.
std::string gemm_backend();

}  // namespace gradus
