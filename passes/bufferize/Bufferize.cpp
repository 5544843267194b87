// Lowers the step, then computes lifetimes and places the buffers.
#include "passes/bufferize/Bufferize.h"

#include "dialects/graph/Step.h"
#include "passes/bufferize/Offsets.h"
#include "passes/bufferize/StepLowering.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::bufferize {

namespace {

ArenaSizes place(program::ProgramOp program) {
  SmallVector<program::BufferOp> buffers(program.getBody().front().getOps<program::BufferOp>());
  std::vector<Lifetime> lifetimes;
  for (program::BufferOp buffer : buffers)
    lifetimes.push_back({static_cast<int64_t>(buffer.getBytes()),
                         static_cast<int64_t>(buffer.getFirst()),
                         static_cast<int64_t>(buffer.getLast())});
  Placement placement = placeBuffers(lifetimes);
  for (auto [buffer, offset] : llvm::zip(buffers, placement.offsets)) {
    program::BufferOp op = buffer;
    op.setOffset(offset);
  }
  program.setArenaAttr(
      program::ArenaAttr::get(program.getContext(), placement.bytes, placement.peak));
  return {placement.bytes, placement.peak};
}

} // namespace

FailureOr<ArenaSizes> bufferize(ModuleOp module) {
  module.getContext()->loadDialect<program::ProgramDialect>();
  func::FuncOp step = graph::stepOf(module);
  if (!step)
    return module.emitError("has no function @step to bufferize");
  ProgramBuilder builder(module);
  if (failed(StepLowering(step, builder).run()))
    return failure();
  step.erase();
  builder.setLifetimes();
  return place(builder.program());
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
