// Zigzag: an op on two halves of a rank's rows, one of which the mirrored rank holds
// (compiler/planner/choices/Zigzag.h).
#pragma once

#include "compiler/planner/choices/Zigzag.h"

#include "mlir/IR/Builders.h"

namespace cleave::shard {

// The parts of an op on one rank, as graph::PartitionInterface takes them.
struct LocalOp {
  mlir::Operation *op; // on whole tensors
  const FactorRule &rule;
  const FactorAxes &axes;
  mlir::ValueRange operands; // blocks
  mlir::TypeRange types;     // of the results
  llvm::function_ref<mlir::Value(unsigned)> blockOffset;
  llvm::StringRef part; // of the step, `forward` or `backward`
};

// Builds the op twice, on the first half of this rank's blocks along `factor` and on the second
// half of the mirrored rank's. Returns this rank's blocks of the results; results that lack the
// factor are sums of both.
llvm::SmallVector<mlir::Value> partitionInZigzag(mlir::OpBuilder &b, const LocalOp &local,
                                                 int factor, const Mesh &mesh);

} // namespace cleave::shard
