// What the ops of the mesh dialect do, as plain loops over the tensors of all ranks at once: the
// reference for partitioning tests and runtimes.
#pragma once

#include "dialects/interfaces/Sharding.h"
#include "dialects/interfaces/Tensor.h"

#include <vector>

namespace mlir {
class Operation;
}

namespace cleave::mesh {

// Per rank the tensors of one op: its operands, or its results.
using RankTensors = std::vector<std::vector<Tensor>>;

// Whether evaluateCollective knows the op: any of the mesh dialect.
bool isCollective(mlir::Operation *op);

// The results of `op` on every rank of the mesh, from the operands of every rank. The op has passed
// its verifier.
RankTensors evaluateCollective(mlir::Operation *op, const Mesh &mesh, const RankTensors &operands);

// What padding is filled with, so that nobody relies on it: NaN, or an unlikely number.
double poison(ElementType type);

// This rank's block of a whole tensor laid out like this (not partial); padding is poisoned.
Tensor splitTensor(const Tensor &whole, const Sharding &sharding, const Mesh &mesh, int64_t rank);

// The whole tensor of this shape from all ranks' blocks; partial values are combined. Where several
// ranks hold the same element, the first one's is taken; `agree` (if given) tells whether all of
// them were equal up to `tolerance`, relative to the largest element.
Tensor joinTensor(const std::vector<Tensor> &blocks, const std::vector<int64_t> &shape,
                  const Sharding &sharding, const Mesh &mesh, bool *agree = nullptr,
                  double tolerance = 1e-5);

} // namespace cleave::mesh
