// Contraction: matrix products as frameworks write them. Convolutions are in Convolution.h, general
// sums of products in Einsum.h.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Sums products over dims `lhsDim` and `rhsDim`; the first `batch` dims of both are batch dims. The
// result has the batch dims, the remaining dims of lhs, the remaining dims of rhs.
Value dot(const Emitter &e, Value lhs, Value rhs, int64_t batch, int64_t lhsDim, int64_t rhsDim);

// numpy.matmul: accepts vectors on either side and broadcasts batch dims.
Value matmul(const Emitter &e, Value lhs, Value rhs);

// alpha lhs' rhs' + beta summand on matrices; lhs' and rhs' are transposed if their flag is set.
// The summand is broadcast; null: none.
struct GemmOptions {
  bool transposeLhs = false, transposeRhs = false;
  double alpha = 1, beta = 1;
};
Value gemm(const Emitter &e, Value lhs, Value rhs, Value summand, const GemmOptions &options = {});

// x weight^T + bias over the last dim of x; weight is [out, in], bias [out] or null.
Value linear(const Emitter &e, Value x, Value weight, Value bias);

// beta summand + alpha matmul(lhs, rhs); the summand is broadcast.
Value addMatmul(const Emitter &e, Value summand, Value lhs, Value rhs, double beta = 1,
                double alpha = 1);

// The rows of x [rows, in] times a matrix per group of rows: weights [groups, in, out]. Group g has
// the rows before ends[g] that are in no group before it; rows in none become 0.
Value groupedMatmul(const Emitter &e, Value x, Value weights, Value ends);

} // namespace cleave::emit
