// Lowers the step, then computes lifetimes and places the buffers.
#include "passes/bufferize/Bufferize.h"

#include "dialects/graph/Provenance.h"
#include "dialects/graph/Step.h"
#include "passes/bufferize/Offsets.h"
#include "passes/bufferize/SharedLaunches.h"
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

// Copies the reason against padding from the module of the step to its program.
void setNoPadding(func::FuncOp step, program::ProgramOp program) {
  if (std::string reason = graph::noPaddingOf(step->getParentOfType<ModuleOp>()); !reason.empty())
    program.setNoPadding(reason);
}

// Lowers the step to instructions.
LogicalResult lower(func::FuncOp step, ProgramBuilder &builder) {
  setNoPadding(step, builder.program());
  if (failed(StepLowering(step, builder).run()))
    return failure();
  step.erase();
  if (program::isForGpus(builder.program()))
    shareLaunches(builder.program());
  builder.setLifetimes();
  return success();
}

// The buffers of a program that are persistent, or those that are not.
Buffers buffersOf(program::ProgramOp program, bool arePersistent) {
  Buffers buffers = buffersOf(program);
  llvm::erase_if(buffers, [&](program::BufferOp buffer) {
    return isPersistent(buffer.getRole()) != arePersistent;
  });
  return buffers;
}

// Adds the persistent buffers that only `other` has to the step, after its last byte.
void shareAdded(ProgramBuilder &builder, program::ProgramOp other) {
  program::ProgramOp step = builder.program();
  Operation *last = nullptr;
  for (program::BufferOp buffer : buffersOf(step))
    last = buffer;
  int64_t end = step.getArena().getBytes(), peak = step.getArena().getPeak();
  const size_t known = buffersOf(step, /*arePersistent=*/true).size();
  const Buffers persistent = buffersOf(other, /*arePersistent=*/true);
  for (program::BufferOp buffer : ArrayRef(persistent).drop_front(known)) {
    const int64_t alignment = program::bufferAlignmentOf(buffer);
    buffer.setOffset(alignedTo(alignment, end));
    OpBuilder b(step.getContext());
    last ? b.setInsertionPointAfter(last) : b.setInsertionPointToStart(&step.getBody().front());
    last = b.clone(*buffer);
    const auto bytes = static_cast<int64_t>(buffer.getBytes());
    end = static_cast<int64_t>(buffer.getOffset()) + bytes;
    peak += alignedTo(alignment, bytes);
  }
  step.setArenaAttr(program::ArenaAttr::get(step.getContext(), end, peak));
  builder.setLifetimes();
}

// Adds the program of the evaluation. The buffers of the step have been placed.
LogicalResult addEvaluation(func::FuncOp evaluation, ModuleOp module, ProgramTables &tables,
                            ProgramBuilder &step) {
  ProgramBuilder builder(module, tables, program::Kind::Evaluation);
  builder.share(step.program());
  if (failed(lower(evaluation, builder)))
    return failure();
  shareAdded(step, builder.program());
  const Buffers persistent = buffersOf(builder.program(), /*arePersistent=*/true);
  std::vector<int64_t> offsets;
  for (program::BufferOp buffer : persistent)
    offsets.push_back(static_cast<int64_t>(buffer.getOffset()));
  const Buffers own = buffersOf(builder.program(), /*arePersistent=*/false);
  setOffsets(builder.program(), own,
             placeAround(lifetimesOf(persistent), offsets, lifetimesOf(own)));
  return success();
}

} // namespace

FailureOr<ArenaSizes> bufferize(ModuleOp module, func::FuncOp evaluation) {
  module.getContext()->loadDialect<program::ProgramDialect>();
  func::FuncOp step = graph::stepOf(module);
  if (!step)
    return module.emitError("has no function @step to bufferize");
  ProgramTables tables;
  ProgramBuilder builder(module, tables);
  if (failed(lower(step, builder)))
    return failure();
  const Buffers buffers = buffersOf(builder.program());
  const ArenaSizes sizes =
      setOffsets(builder.program(), buffers, placeBuffers(lifetimesOf(buffers)));
  if (evaluation && failed(addEvaluation(evaluation, module, tables, builder)))
    return failure();
  eraseUnusedKernels(module);
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
