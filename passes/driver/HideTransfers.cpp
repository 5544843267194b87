// See HideTransfers.h.
#include "passes/driver/HideTransfers.h"

#include "compiler/artifact/ExportPlan.h"
#include "dialects/mesh/MeshDialect.h"
#include "dialects/program/Program.h"
#include "passes/bufferize/Bufferize.h"
#include "passes/driver/Predict.h"
#include "passes/schedule/Lifetimes.h"
#include "passes/schedule/Overlap.h"
#include "passes/schedule/Queues.h"
#include "runtime/artifact/Access.h"
#include "runtime/base/Alignment.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace cleave::driver {
namespace {

using Order = std::vector<int64_t>;

bool transfers(const plan::Program &program) { return !artifact::hasOneQueue(program); }

// Whether ranks run different programs, whose orders have to agree.
bool passesMessages(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<program::SendOp, program::RecvOp>(op) ? WalkResult::interrupt()
                                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

// A program with the bytes of its buffers in device memory; those of buffers that are live all the
// time are added up instead.
struct Timed {
  schedule::TimedProgram program;
  int64_t alwaysLive = 0;
};

Timed timed(program::ProgramOp op, const plan::Program &predicted) {
  Timed result{.program = {.program = schedule::queuesOf(op, /*arePlaced=*/false)}};
  for (const plan::Segment &segment : predicted.segments())
    for (const plan::Instruction &instruction : segment.instructions())
      result.program.seconds.push_back(instruction.seconds());
  const auto last = static_cast<int64_t>(result.program.seconds.size()) - 1;
  const int64_t alignment = program::bufferAlignmentOf(op);
  for (auto buffer : op.getBody().front().getOps<program::BufferOp>()) {
    const int64_t bytes = buffer.getSpace() == Space::Device
                              ? alignedTo(alignment, static_cast<int64_t>(buffer.getBytes()))
                              : 0;
    const bool isAlwaysLive =
        buffer.getFirst() == 0 && static_cast<int64_t>(buffer.getLast()) == last;
    result.program.bytes.push_back(isAlwaysLive ? 0 : bytes);
    result.alwaysLive += isAlwaysLive ? bytes : 0;
  }
  return result;
}

// The bytes that the buffers of a program may take that are not live all the time.
int64_t limitOf(const Timed &timed, const planner::Budget &budget) {
  return budget.isLimited() ? budget.bytes() - timed.alwaysLive
                            : std::numeric_limits<int64_t>::max();
}

std::vector<Operation *> instructionsOf(program::ProgramOp program) {
  std::vector<Operation *> instructions;
  for (auto segment : program.getBody().front().getOps<program::SegmentOp>())
    for (Operation &instruction : segment.getBody().front())
      instructions.push_back(&instruction);
  return instructions;
}

// Brings the instructions into the order and sets lifetimes.
void reorder(program::ProgramOp program, const Order &order) {
  const std::vector<Operation *> instructions = instructionsOf(program);
  for (int64_t number : order) {
    Operation *instruction = instructions[static_cast<size_t>(number)];
    instruction->moveBefore(instruction->getBlock(), instruction->getBlock()->end());
  }
  schedule::setLifetimes(program);
}

// Sets how long copies between spaces are in flight, and lifetimes.
void setFlights(program::ProgramOp program, const schedule::TimedProgram &timed) {
  Builder b(program.getContext());
  const std::vector<Operation *> instructions = instructionsOf(program);
  size_t number = 0;
  for (const auto &segment : timed.program.segments)
    for (const schedule::QueuedInstruction &instruction : segment)
      if (Operation *op = instructions[number++]; instruction.flight >= 0)
        op->setAttr(program::kFlight, b.getI64IntegerAttr(instruction.flight));
  schedule::setLifetimes(program);
}

void removeFlights(program::ProgramOp program) {
  for (Operation *instruction : instructionsOf(program))
    instruction->removeAttr(program::kFlight);
  schedule::setLifetimes(program);
}

Order inverse(const Order &order) {
  Order result(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return result;
}

// The bytes of the largest arena, if the buffers were placed.
int64_t placedBytes(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  bufferize::placePrograms(*copy);
  int64_t bytes = 0;
  for (auto program : copy->getOps<program::ProgramOp>())
    bytes = std::max(bytes, static_cast<int64_t>(program.getArena()->getBytes()));
  return bytes;
}

} // namespace

Result<std::vector<int64_t>> hideTransfers(ModuleOp module, const cluster::Cluster &cluster,
                                           const planner::Budget &budget) {
  std::vector<int64_t> added(llvm::range_size(module.getOps<program::ProgramOp>()), 0);
  if (passesMessages(module))
    return added;
  CLEAVE_TRY_ASSIGN(plan::Plan outline, artifact::exportOutline(module));
  if (llvm::none_of(outline.programs(), transfers))
    return added;
  mesh::MeshAttr mesh = mesh::meshOf(module);
  predictInstructions(outline, cluster, mesh ? mesh::toMesh(mesh) : Mesh(),
                      attentionKernels(module));
  std::vector<std::pair<program::ProgramOp, Order>> changed;
  std::vector<int64_t> addedByOrder = added; // without flights
  for (auto [i, op] : llvm::enumerate(module.getOps<program::ProgramOp>())) {
    const Timed given = timed(op, outline.programs(int(i)));
    const int64_t limit = limitOf(given, budget), peak = peakOf(given.program);
    Order order = schedule::overlapOrder(given.program, limit);
    const schedule::TimedProgram ordered = reordered(given.program, order);
    const schedule::TimedProgram found = withFlights(ordered, limit);
    added[i] = peakOf(found) - peak;
    addedByOrder[i] = peakOf(ordered) - peak;
    reorder(op, order);
    setFlights(op, found);
    changed.push_back({op, std::move(order)});
  }
  if (budget.holds(placedBytes(module)))
    return added;
  for (auto &[op, order] : changed)
    removeFlights(op);
  if (budget.holds(placedBytes(module)))
    return addedByOrder;
  for (auto &[op, order] : changed)
    reorder(op, inverse(order));
  return std::vector<int64_t>(added.size(), 0);
}

} // namespace cleave::driver
