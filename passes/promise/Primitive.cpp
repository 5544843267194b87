// The phase `primitive`.
//
//  S1–S10 The signature is complete (Signature.cpp).
//  P1     No composite op (DecompositionInterface) is left, in kernel groups either, but outside of
//         groups those with a kernel of their own (hasKernel, or hasGpuKernel in a step for GPUs).
//  P2     Every pointwise op, reduction, broadcast and iota is in a kernel group, except constants
//         with all elements equal.
//  P3     Every kernel group obeys the rules of passes/fuse/Groups.h.
//  P4     Every op of the step has a factor rule and a cost and can be partitioned, so that it can
//         be planned.
//  P5     Borders are between chunks of the stage that the step is.
#include "dialects/graph/Stage.h"
#include "dialects/graph/Transfer.h"
#include "dialects/program/Program.h"
#include "passes/promise/Promise.h"

#include "passes/promise/Rules.h"

using namespace mlir;

namespace cleave::promise {

static constexpr StringLiteral kPrimitivePhase = "primitive";

// Whether both chunks are on one stage, that of the op's step.
static bool isInside(graph::TransferOp transfer) {
  const std::optional<graph::Stage> stage =
      graph::stageOf(transfer->getParentOfType<func::FuncOp>());
  return stage && llvm::is_contained(stage->chunks, transfer.getFrom()) &&
         llvm::is_contained(stage->chunks, transfer.getTo());
}

LogicalResult checkPrimitive(ModuleOp module) {
  if (failed(checkSignature(module, kPrimitivePhase)))
    return failure();
  func::FuncOp step = graph::stepOf(module);
  const bool isForGpus = program::isForGpus(module);
  WalkResult composites = step.walk([&](graph::DecompositionInterface op) {
    if ((isForGpus ? op.hasGpuKernel() : op.hasKernel()) && op->getParentOp() == step)
      return WalkResult::advance();
    broken(op, kPrimitivePhase, "P1") << "is left, expected the ops that it decomposes to";
    return WalkResult::interrupt();
  });
  if (composites.wasInterrupted() || failed(checkNothingLoose(step, kPrimitivePhase, "P2")) ||
      failed(checkGroups(step, kPrimitivePhase, "P3")))
    return failure();
  for (Operation &op : step.getBody().front().without_terminator())
    if (!isa<graph::FactorRuleInterface>(op) || !isa<graph::CostInterface>(op) ||
        !isa<graph::PartitionInterface>(op))
      return broken(&op, kPrimitivePhase, "P4")
             << "lacks a factor rule, a cost or a way to partition it";
    else if (auto transfer = dyn_cast<graph::TransferOp>(op); transfer && !isInside(transfer))
      return broken(&op, kPrimitivePhase, "P5") << "is left, expected a message between two stages";
  return success();
}

} // namespace cleave::promise
