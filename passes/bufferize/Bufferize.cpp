// Lowers the step, then computes lifetimes and places the buffers.
#include "passes/bufferize/Bufferize.h"

#include "dialects/graph/Step.h"
#include "passes/bufferize/Offsets.h"
#include "passes/bufferize/StepLowering.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::bufferize {

namespace {

using Buffers = SmallVector<program::BufferOp>;

Buffers buffersOf(program::ProgramOp program) {
  return Buffers(program.getBody().front().getOps<program::BufferOp>());
}

std::vector<Lifetime> lifetimesOf(ArrayRef<program::BufferOp> buffers) {
  std::vector<Lifetime> lifetimes;
  for (program::BufferOp buffer : buffers)
    lifetimes.push_back(
        {alignedTo(program::bufferAlignmentOf(buffer), static_cast<int64_t>(buffer.getBytes())),
         static_cast<int64_t>(buffer.getFirst()), static_cast<int64_t>(buffer.getLast())});
  return lifetimes;
}

ArenaSizes setOffsets(program::ProgramOp program, ArrayRef<program::BufferOp> buffers,
                      const Placement &placement) {
  for (auto [buffer, offset] : llvm::zip(buffers, placement.offsets)) {
    program::BufferOp op = buffer;
    op.setOffset(offset);
  }
  program.setArenaAttr(
      program::ArenaAttr::get(program.getContext(), placement.bytes, placement.peak));
  return {placement.bytes, placement.peak};
}

// Adds the evaluation to a program whose buffers have been placed.
LogicalResult addEvaluation(func::FuncOp evaluation, ProgramBuilder &builder) {
  const Buffers placed = buffersOf(builder.program());
  if (failed(StepLowering(evaluation, builder, StepLowering::Kind::Evaluation).run()))
    return failure();
  evaluation.erase();
  builder.setLifetimes();
  std::vector<int64_t> offsets;
  for (program::BufferOp buffer : placed)
    offsets.push_back(static_cast<int64_t>(buffer.getOffset()));
  const Buffers all = buffersOf(builder.program());
  const ArrayRef<program::BufferOp> added = ArrayRef(all).drop_front(placed.size());
  setOffsets(builder.program(), added,
             placeAround(lifetimesOf(placed), offsets, lifetimesOf(added)));
  return success();
}

} // namespace

FailureOr<ArenaSizes> bufferize(ModuleOp module, func::FuncOp evaluation) {
  module.getContext()->loadDialect<program::ProgramDialect>();
  func::FuncOp step = graph::stepOf(module);
  if (!step)
    return module.emitError("has no function @step to bufferize");
  ProgramBuilder builder(module);
  if (failed(StepLowering(step, builder).run()))
    return failure();
  step.erase();
  builder.setLifetimes();
  const Buffers buffers = buffersOf(builder.program());
  const ArenaSizes sizes =
      setOffsets(builder.program(), buffers, placeBuffers(lifetimesOf(buffers)));
  if (evaluation && failed(addEvaluation(evaluation, builder)))
    return failure();
  return sizes;
}

#define GEN_PASS_DEF_BUFFERIZEPASS
#include "passes/bufferize/Passes.h.inc"

namespace {

struct BufferizePass : impl::BufferizePassBase<BufferizePass> {
  void runOnOperation() override {
    if (failed(bufferize(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void registerBufferizePasses() { PassRegistration<BufferizePass>(); }

} // namespace cleave::bufferize
