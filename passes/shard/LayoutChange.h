// LayoutChange: bringing one rank's block of a tensor from one layout to another, as ops of the
// mesh dialect.
#pragma once

#include "compiler/cost/Reshard.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace cleave::shard {

// The type of one rank's block of a tensor of type `global`.
mlir::RankedTensorType localType(mlir::Type global, const Sharding &sharding, const Mesh &mesh);

// Makes layout changes by the cheapest steps that the cost model knows.
class LayoutChanger {
public:
  // `cluster` as the mesh's ranks see it (cluster::forRanks).
  LayoutChanger(const cluster::Cluster &cluster, const Mesh &mesh)
      : mesh_(mesh), resharder_(cluster, mesh) {}

  // `block` in layout `from` of a tensor of type `global`, in layout `to`. Asserts that there is a
  // way: `to` is partial at most where `from` is. `part` of the step is written on the ops as
  // mesh.part, so that nobody later takes one part's copy for another's and keeps it alive between.
  mlir::Value change(mlir::OpBuilder &b, mlir::Value block, mlir::Type global, const Sharding &from,
                     const Sharding &to, llvm::StringRef part);

private:
  const Mesh &mesh_;
  cost::Resharder resharder_;
};

} // namespace cleave::shard
