// Lowers steps to programs with the lifetimes of their buffers, and places the buffers.
#include "passes/bufferize/Bufferize.h"

#include "dialects/graph/Provenance.h"
#include "dialects/graph/Step.h"
#include "passes/bufferize/Offsets.h"
#include "passes/bufferize/SharedLaunches.h"
#include "passes/bufferize/StepLowering.h"
#include "passes/schedule/Lifetimes.h"
#include "passes/schedule/Slots.h"

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

// Divides the ranks of the mesh among the programs of the stages, of which each has as many.
void setRanks(ModuleOp module) {
  const int64_t ranks = mesh::toMesh(mesh::meshOf(module)).ranks();
  const auto stages = static_cast<int64_t>(llvm::range_size(module.getOps<program::ProgramOp>()));
  for (auto [i, program] : llvm::enumerate(module.getOps<program::ProgramOp>())) {
    const auto first = static_cast<int64_t>(i) * (ranks / stages);
    program.setRanks(llvm::to_vector(llvm::seq(first, first + ranks / stages)));
  }
}

// The buffers of a program that are persistent, or those that are not.
Buffers buffersOf(program::ProgramOp program, bool arePersistent) {
  Buffers buffers = buffersOf(program);
  llvm::erase_if(buffers, [&](program::BufferOp buffer) {
    return isPersistent(buffer.getRole()) != arePersistent;
  });
  return buffers;
}

// Replaces the step by the program of the builder.
LogicalResult lower(func::FuncOp step, ProgramBuilder &builder) {
  setNoPadding(step, builder.program());
  if (failed(StepLowering(step, builder).run()))
    return failure();
  auto module = step->getParentOfType<ModuleOp>();
  if (const auto schedule = graph::scheduleOf(module); !schedule.empty())
    schedule::addSlots(builder.program(), schedule);
  step.erase();
  if (program::isForGpus(builder.program()))
    shareLaunches(builder.program());
  schedule::setLifetimes(builder.program());
  return success();
}

// Adds the persistent buffers that only `other` has to the step, after its last byte.
void shareAdded(program::ProgramOp step, program::ProgramOp other) {
  Operation *last = nullptr;
  for (program::BufferOp buffer : buffersOf(step))
    last = buffer;
  int64_t end = step.getArena()->getBytes(), peak = step.getArena()->getPeak();
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
  schedule::setLifetimes(step);
}

// Places the buffers of a program that runs on the ranks of the step, whose buffers are placed.
void placeBeside(program::ProgramOp step, program::ProgramOp program) {
  const Buffers persistent = buffersOf(program, /*arePersistent=*/true);
  for (auto [buffer, ofStep] : llvm::zip(persistent, buffersOf(step, /*arePersistent=*/true))) {
    program::BufferOp own = buffer;
    own.setOffset(ofStep.getOffset());
  }
  shareAdded(step, program);
  std::vector<int64_t> offsets;
  for (program::BufferOp buffer : persistent)
    offsets.push_back(static_cast<int64_t>(buffer.getOffset()));
  const Buffers own = buffersOf(program, /*arePersistent=*/false);
  setOffsets(program, own, placeAround(lifetimesOf(persistent), offsets, lifetimesOf(own)));
}

} // namespace

LogicalResult lowerPrograms(ModuleOp module, ArrayRef<func::FuncOp> stages,
                            ArrayRef<func::FuncOp> evaluations) {
  module.getContext()->loadDialect<program::ProgramDialect>();
  func::FuncOp step = graph::stepOf(module);
  if (!step)
    return module.emitError("has no function @step to bufferize");
  ProgramTables tables;
  SmallVector<program::ProgramOp> programs;
  auto lowerStep = [&](func::FuncOp each) {
    ProgramBuilder builder(module, tables);
    if (!programs.empty())
      builder.shareTensors();
    programs.push_back(builder.program());
    return lower(each, builder);
  };
  if (failed(lowerStep(step)))
    return failure();
  for (func::FuncOp stage : stages)
    if (failed(lowerStep(stage)))
      return failure();
  if (!stages.empty())
    setRanks(module);
  for (auto [program, evaluation] : llvm::zip(programs, evaluations)) {
    ProgramBuilder builder(module, tables, program::Kind::Evaluation);
    builder.share(program);
    builder.program().setRanksAttr(program.getRanksAttr());
    if (failed(lower(evaluation, builder)))
      return failure();
  }
  eraseUnusedKernels(module);
  return success();
}

std::vector<ArenaSizes> placePrograms(ModuleOp module) {
  SmallVector<program::ProgramOp> steps;
  std::vector<ArenaSizes> sizes;
  size_t evaluations = 0;
  for (auto program : module.getOps<program::ProgramOp>()) {
    if (program.getKind() == program::Kind::Evaluation) {
      placeBeside(steps[evaluations++], program);
      continue;
    }
    const Buffers buffers = buffersOf(program);
    sizes.push_back(setOffsets(program, buffers, placeBuffers(lifetimesOf(buffers))));
    steps.push_back(program);
  }
  return sizes;
}

FailureOr<ArenaSizes> bufferize(ModuleOp module) {
  if (failed(lowerPrograms(module)))
    return failure();
  return placePrograms(module).front();
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
