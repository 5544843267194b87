// Cut: puts the borders between the chunks of a model, for the stages of a pipeline, into a forward
// step.
#pragma once

#include "compiler/schedule/pipelines/LayerLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cleave::stage {

// Prices by which the cut minimises the seconds of the slowest chunk.
struct CutCosts {
  std::vector<double> opSeconds; // by op, in the order of graph::opsOf()
  double secondsPerByte = 0;     // of messages between chunks
};

// The chunks of a step.
struct Chunks {
  // By op, in that order, its chunk; -1: its results are not passed, and each chunk computes those
  // that it reads.
  std::vector<int64_t> ofOp;
  // The layers of each chunk (Layers.h); nothing if a border lies inside of one.
  std::optional<pipelines::LayerLayout> layout;
};

// Divides the ops of `step`, which computes losses, into `chunks` ranges in their order, and puts a
// graph.transfer on each value that passes from one to the next. Values that depend on no
// parameter, or on parameters alone, are not passed. Balance.h chooses the borders. Fails with a
// diagnostic if the step has too few ops.
mlir::FailureOr<Chunks> cutIntoChunks(mlir::func::FuncOp step, int64_t chunks,
                                      const CutCosts &costs);

// Divides the ops as a layout states, which gives each chunk a number of layers (Layers.h), and
// adds transfers like cutIntoChunks(). Between two layers, the cut is where the fewest bytes pass.
// Fails with a diagnostic if the model has another number of layers, or if a chunk is empty.
mlir::FailureOr<Chunks> cutAtLayers(mlir::func::FuncOp step, const pipelines::LayerLayout &layout);

// Whether the stage of a chunk holds the argument of this name.
using IsHeld = llvm::function_ref<bool(llvm::StringRef argument, int64_t chunk)>;

// The same for an evaluation beside a training step that is cut into `chunks`: each op is in the
// first chunk, not before its operands, whose stage holds the parameters and other stored values
// that it reads. Values of stored values alone are passed, too, where no stage holds all of them. A
// value that no stage holds counts as held by all. Fails with a diagnostic at an op that reads
// arguments that no single stage holds.
mlir::LogicalResult cutAlong(mlir::func::FuncOp step, int64_t chunks, IsHeld isHeld);

} // namespace cleave::stage
