// Lowers steps to programs with the lifetimes of their buffers, and places the buffers.
#include "passes/bufferize/Bufferize.h"

#include "dialects/graph/Provenance.h"
#include "dialects/graph/Step.h"
#include "passes/bufferize/Offsets.h"
#include "passes/bufferize/SharedLaunches.h"
#include "passes/bufferize/StepLowering.h"
#include "passes/schedule/Away.h"
#include "passes/schedule/Lifetimes.h"
#include "passes/schedule/Slots.h"
#include "runtime/base/Parallel.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::bufferize {

namespace {

using Buffers = SmallVector<program::BufferOp>;

Buffers buffersIn(program::ProgramOp program, Space space) {
  Buffers buffers(program.getBody().front().getOps<program::BufferOp>());
  llvm::erase_if(buffers, [&](program::BufferOp buffer) { return buffer.getSpace() != space; });
  return buffers;
}

std::vector<Lifetime> lifetimesOf(ArrayRef<program::BufferOp> buffers) {
  std::vector<Lifetime> lifetimes;
  for (program::BufferOp buffer : buffers)
    lifetimes.push_back({alignedTo(program::bufferAlignmentOf(buffer, buffer.getSpace()),
                                   static_cast<int64_t>(buffer.getBytes())),
                         static_cast<int64_t>(buffer.getFirst()),
                         static_cast<int64_t>(buffer.getLast())});
  return lifetimes;
}

// Sets the offsets and the arena of buffers in a space. Programs have an arena of device memory,
// and others as they have buffers there.
void setOffsets(program::ProgramOp program, Space space, ArrayRef<program::BufferOp> buffers,
                const Placement &placement) {
  for (auto [buffer, offset] : llvm::zip(buffers, placement.offsets)) {
    program::BufferOp op = buffer;
    op.setOffset(offset);
  }
  if (space == Space::Device || placement.bytes > 0 || !buffers.empty())
    program.setArenaIn(
        space, program::ArenaAttr::get(program.getContext(), placement.bytes, placement.peak));
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

// The buffers of a program in a space that are persistent, or those that are not.
Buffers buffersIn(program::ProgramOp program, Space space, bool arePersistent) {
  Buffers buffers = buffersIn(program, space);
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
  schedule::copyAway(builder.program());
  step.erase();
  if (program::isForGpus(builder.program()))
    shareLaunches(builder.program());
  schedule::setLifetimes(builder.program());
  return success();
}

// Adds the persistent buffers that only `other` has to the step, after the last byte of their
// space.
void shareAdded(program::ProgramOp step, program::ProgramOp other, Space space) {
  Operation *last = nullptr;
  for (program::BufferOp buffer : step.getBody().front().getOps<program::BufferOp>())
    last = buffer;
  const program::ArenaAttr arena = step.arenaIn(space);
  int64_t end = arena ? arena.getBytes() : 0, peak = arena ? arena.getPeak() : 0;
  const size_t known = buffersIn(step, space, /*arePersistent=*/true).size();
  const Buffers persistent = buffersIn(other, space, /*arePersistent=*/true);
  for (program::BufferOp buffer : ArrayRef(persistent).drop_front(known)) {
    const int64_t alignment = program::bufferAlignmentOf(buffer, space);
    buffer.setOffset(alignedTo(alignment, end));
    OpBuilder b(step.getContext());
    last ? b.setInsertionPointAfter(last) : b.setInsertionPointToStart(&step.getBody().front());
    last = b.clone(*buffer);
    const auto bytes = static_cast<int64_t>(buffer.getBytes());
    end = static_cast<int64_t>(buffer.getOffset()) + bytes;
    peak += alignedTo(alignment, bytes);
  }
  if (arena || end > 0)
    step.setArenaIn(space, program::ArenaAttr::get(step.getContext(), end, peak));
}

// Programs of one rank have arenas in the same spaces: one that needs none has one without bytes.
void shareArena(program::ProgramOp from, program::ProgramOp to, Space space) {
  if (from.arenaIn(space) && !to.arenaIn(space))
    to.setArenaIn(space, program::ArenaAttr::get(to.getContext(), 0, 0));
}

// Places the buffers of a program that runs on the ranks of the step, whose buffers are placed.
void placeBeside(program::ProgramOp step, program::ProgramOp program) {
  for (Space space : kSpaces) {
    const Buffers persistent = buffersIn(program, space, /*arePersistent=*/true);
    for (auto [buffer, ofStep] :
         llvm::zip(persistent, buffersIn(step, space, /*arePersistent=*/true))) {
      program::BufferOp own = buffer;
      own.setOffset(ofStep.getOffset());
    }
    shareAdded(step, program, space);
    std::vector<int64_t> offsets;
    for (program::BufferOp buffer : persistent)
      offsets.push_back(static_cast<int64_t>(buffer.getOffset()));
    const Buffers own = buffersIn(program, space, /*arePersistent=*/false);
    setOffsets(program, space, own,
               placeAround(lifetimesOf(persistent), offsets, lifetimesOf(own)));
    shareArena(step, program, space);
    shareArena(program, step, space);
  }
  schedule::setLifetimes(step);
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

static ArenaSizes sizesOf(program::ProgramOp program) {
  ArenaSizes sizes;
  if (const program::ArenaAttr arena = program.arenaIn(Space::Device))
    sizes = {.arena = arena.getBytes(), .peak = arena.getPeak()};
  if (const program::ArenaAttr arena = program.arenaIn(Space::Host))
    sizes.host = arena.getBytes();
  if (const program::ArenaAttr arena = program.arenaIn(Space::File))
    sizes.file = arena.getBytes();
  return sizes;
}

// The buffers of a step in one of the spaces.
struct StepBuffers {
  program::ProgramOp step;
  Space space = Space::Device;
  Buffers buffers;
  std::vector<Lifetime> lifetimes;
  Placement placement;
};

// Places the buffers of all steps, several at a time.
static void placeSteps(ArrayRef<program::ProgramOp> steps, std::optional<int64_t> room) {
  std::vector<StepBuffers> all;
  for (program::ProgramOp step : steps)
    for (Space space : kSpaces) {
      StepBuffers &each = all.emplace_back(StepBuffers{step, space, buffersIn(step, space)});
      each.lifetimes = lifetimesOf(each.buffers);
    }
  inParallel(all.size(), [&](size_t i) {
    all[i].placement =
        placeBuffers(all[i].lifetimes, all[i].space == Space::Device ? room : std::nullopt);
  });
  for (const StepBuffers &each : all)
    setOffsets(each.step, each.space, each.buffers, each.placement);
}

std::vector<ArenaSizes> placePrograms(ModuleOp module, std::optional<int64_t> room) {
  SmallVector<program::ProgramOp> steps, evaluations;
  for (auto program : module.getOps<program::ProgramOp>())
    (program.getKind() == program::Kind::Evaluation ? evaluations : steps).push_back(program);
  placeSteps(steps, room);
  std::vector<ArenaSizes> sizes;
  for (program::ProgramOp step : steps)
    sizes.push_back(sizesOf(step));
  for (auto [step, evaluation] : llvm::zip(steps, evaluations))
    placeBeside(step, evaluation);
  return sizes;
}

FailureOr<ArenaSizes> bufferize(ModuleOp module, std::optional<int64_t> room) {
  if (failed(lowerPrograms(module)))
    return failure();
  return placePrograms(module, room).front();
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
