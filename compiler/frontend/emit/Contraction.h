// Contraction: matrix products as frameworks write them. Convolutions are in Convolution.h, general
// sums of products in Einsum.h.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// Sums of products over dim `lhsDim` and `rhsDim`; the first `batch` dims of both go together.
// Dims of the result: batch, the other ones of lhs, the other ones of rhs.
Value dot(const Emitter &e, Value lhs, Value rhs, int64_t batch, int64_t lhsDim, int64_t rhsDim);

// numpy's matmul: vectors on either side, batch dims broadcast together.
Value matmul(const Emitter &e, Value lhs, Value rhs);

// alpha lhs' rhs' + beta summand on matrices; ' is a transpose where the flag says so, the summand
// (null: none) is broadcast.
struct GemmOptions {
  bool transposeLhs = false, transposeRhs = false;
  double alpha = 1, beta = 1;
};
Value gemm(const Emitter &e, Value lhs, Value rhs, Value summand, const GemmOptions &options = {});

// x weight^T + bias over the last dim of x; weight (out, in), bias (out) or null.
Value linear(const Emitter &e, Value x, Value weight, Value bias);

// beta summand + alpha matmul(lhs, rhs); the summand is broadcast.
Value addMatmul(const Emitter &e, Value summand, Value lhs, Value rhs, double beta = 1,
                double alpha = 1);

} // namespace cleave::emit
