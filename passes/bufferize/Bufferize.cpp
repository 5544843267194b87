// Runs the lowering, then counts instructions, finds lifetimes and places the buffers.
#include "passes/bufferize/Bufferize.h"

#include "dialects/graph/Step.h"
#include "passes/bufferize/Offsets.h"
#include "passes/bufferize/StepLowering.h"
#include "passes/fuse/Fuse.h"

using namespace mlir;

namespace cleave::bufferize {

namespace {

bool isPersistent(program::Role role) {
  return role == program::Role::Parameter || role == program::Role::State ||
         role == program::Role::Constant || role == program::Role::Coordinates;
}

// First and last position of every buffer, as attributes; buffers that nobody touches are removed.
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

MemoryReport place(program::ProgramOp program) {
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

struct BufferizePass : PassWrapper<BufferizePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BufferizePass)
  StringRef getArgument() const override { return "cleave-bufferize"; }
  StringRef getDescription() const override {
    return "Turn one rank's step into its program on buffers";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<program::ProgramDialect>();
  }
  void runOnOperation() override {
    if (failed(bufferize(getOperation())))
      signalPassFailure();
  }
};

} // namespace

FailureOr<MemoryReport> bufferize(ModuleOp module) {
  module.getContext()->loadDialect<program::ProgramDialect>();
  func::FuncOp step = graph::stepOf(module);
  if (!step)
    return module.emitError("has no function @step to bufferize");
  fuse::formGroups(step); // what the partitioner added around groups
  ProgramBuilder builder(module);
  if (failed(StepLowering(step, builder).run()))
    return failure();
  step.erase();
  setLifetimes(builder.program());
  return place(builder.program());
}

std::unique_ptr<Pass> createBufferizePass() { return std::make_unique<BufferizePass>(); }
void registerBufferizePasses() { PassRegistration<BufferizePass>(); }

} // namespace cleave::bufferize
