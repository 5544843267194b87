// Split: makes one step per stage of a pipeline from a training step with borders.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"

#include <cstdint>
#include <vector>

namespace cleave::stage {

// The modules of the stages, in order. Chunk i of the model, which is what graph.transfer speaks
// of, is on stage placement[i]; each stage has one. A stage has the step of `module` with those
// arguments, ops and results that belong to it, and messages (dialects/graph/Messages.h) in place
// of graph.transfer to and from chunks of other stages:
//   * An op that reads a value of one chunk belongs to it. Others, which read none or values of
//     several chunks, are computed by every stage that reads their results.
//   * A parameter or state is updated by all stages that read it; losses and metrics are results of
//     all stages.
//   * A value that another stage reads without a transfer is passed once per step, and in an
//     evaluation once it is made. A sum of
//     gradients of several chunks, as of tied parameters, is formed from sums over micro-batches.
// Fails with a diagnostic at a value of each micro-batch that another stage reads without a
// transfer.
mlir::FailureOr<std::vector<mlir::OwningOpRef<mlir::ModuleOp>>>
splitIntoStages(mlir::ModuleOp module, llvm::ArrayRef<int64_t> placement);

} // namespace cleave::stage
