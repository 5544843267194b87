// LayoutChange: changes the layout of one rank's block of a tensor by ops of the mesh dialect.
#pragma once

#include "compiler/cost/Reshard.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace cleave::shard {

// The type of one rank's block of a tensor of type `global`.
mlir::RankedTensorType localType(mlir::Type global, const Sharding &sharding, const Mesh &mesh);

// Changes layouts by the cheapest steps of the cost model.
class LayoutChanger {
public:
  // `cluster` as the mesh's ranks see it (cluster::forRanks).
  LayoutChanger(const cluster::Cluster &cluster, const Mesh &mesh)
      : mesh_(mesh), resharder_(cluster, mesh) {}

  // Builds the ops that bring `block`, in layout `from` of a tensor of type `global`, to layout
  // `to`. Asserts that `to` is partial at most along the partial axes of `from`. The ops get `part`
  // as mesh.part, so that CSE does not merge the copies of two parts of the step and keep one alive
  // between them.
  mlir::Value change(mlir::OpBuilder &b, mlir::Value block, mlir::Type global, const Sharding &from,
                     const Sharding &to, llvm::StringRef part);

private:
  const Mesh &mesh_;
  cost::Resharder resharder_;
};

} // namespace cleave::shard
