// Reference evaluation of the ops of the mesh dialect: plain loops over the tensors of all ranks at
// once. Tests of partitioning and of communicators compare with it.
#pragma once

#include "dialects/interfaces/Sharding.h"
#include "dialects/interfaces/Tensor.h"

#include <vector>

namespace mlir {
class Operation;
}

namespace cleave::mesh {

// The operands, or the results, of one op on every rank: one list of tensors per rank.
using RankTensors = std::vector<std::vector<Tensor>>;

// Whether evaluateCollective supports the op: all ops of the mesh dialect.
bool isCollective(mlir::Operation *op);

// The results of `op` on every rank of the mesh, from the operands of every rank. The op has passed
// its verifier.
RankTensors evaluateCollective(mlir::Operation *op, const Mesh &mesh, const RankTensors &operands);

// The value of padding in tests, which makes its use visible: NaN, or an unlikely integer.
double poison(ElementType type);

// The block of `rank` of a whole tensor in this layout, which must not be partial. Padding is
// poisoned.
Tensor splitTensor(const Tensor &whole, const Sharding &sharding, const Mesh &mesh, int64_t rank);

// Joins the blocks of all ranks to the whole tensor of this shape; partial values are combined. Of
// several ranks that hold the same element, the first one counts. `agree`, if not null, is set to
// whether all of them are equal up to `tolerance`, relative to the largest element.
Tensor joinTensor(const std::vector<Tensor> &blocks, const std::vector<int64_t> &shape,
                  const Sharding &sharding, const Mesh &mesh, bool *agree = nullptr,
                  double tolerance = 1e-5);

} // namespace cleave::mesh
