// Lowers the step, then computes lifetimes and places the buffers.
#include "passes/bufferize/Bufferize.h"

#include "dialects/graph/Step.h"
#include "passes/bufferize/Offsets.h"
#include "passes/bufferize/StepLowering.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::bufferize {

namespace {

bool isPersistent(program::Role role) {
  return role == program::Role::Parameter || role == program::Role::State ||
         role == program::Role::Constant || role == program::Role::Coordinates;
}

// Sets the first and last position of every buffer; erases buffers that no instruction uses.
void setLifetimes(program::ProgramOp program) {
  Builder b(program.getContext());
  llvm::DenseMap<Value, std::pair<int64_t, int64_t>> lives;
  int64_t position = 0;
  for (auto segment : program.getBody().front().getOps<program::SegmentOp>())
    for (Operation &instruction : segment.getBody().front()) {
      for (Value buffer : instruction.getOperands())
        lives.try_emplace(buffer, position, position).first->second.second = position;
      ++position;
    }
  for (auto buffer :
       llvm::make_early_inc_range(program.getBody().front().getOps<program::BufferOp>())) {
    auto life = lives.find(buffer.getResult());
    if (isPersistent(buffer.getRole())) {
      buffer.setFirst(0);
      buffer.setLast(std::max<int64_t>(position - 1, 0));
    } else if (life == lives.end()) {
      buffer.erase();
    } else {
      buffer.setFirst(life->second.first);
      buffer.setLast(life->second.second);
    }
  }
}

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
  setLifetimes(builder.program());
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
