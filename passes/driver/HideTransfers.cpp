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
#include "runtime/base/Alignment.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace cleave::driver {
namespace {

using Order = std::vector<int64_t>;

bool communicates(const plan::Program &program) {
  return llvm::any_of(program.segments(), [](const plan::Segment &segment) {
    return llvm::any_of(segment.instructions(), [](const plan::Instruction &instruction) {
      return instruction.queue() == kCommunicationQueue;
    });
  });
}

// Whether ranks run different programs, whose orders have to agree.
bool passesMessages(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<program::SendOp, program::RecvOp>(op) ? WalkResult::interrupt()
                                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

// A program with the bytes of its buffers; those of buffers that are live all the time are added up
// instead.
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
    const int64_t bytes = alignedTo(alignment, static_cast<int64_t>(buffer.getBytes()));
    const bool isAlwaysLive =
        buffer.getFirst() == 0 && static_cast<int64_t>(buffer.getLast()) == last;
    result.program.bytes.push_back(isAlwaysLive ? 0 : bytes);
    result.alwaysLive += isAlwaysLive ? bytes : 0;
  }
  return result;
}

// The order with overlap.
Order orderOf(const Timed &timed, const planner::Budget &budget) {
  return schedule::overlapOrder(timed.program, budget.isLimited()
                                                   ? budget.bytes() - timed.alwaysLive
                                                   : std::numeric_limits<int64_t>::max());
}

// Brings the instructions into the order and sets lifetimes.
void reorder(program::ProgramOp program, const Order &order) {
  std::vector<Operation *> instructions;
  for (auto segment : program.getBody().front().getOps<program::SegmentOp>())
    for (Operation &instruction : segment.getBody().front())
      instructions.push_back(&instruction);
  for (int64_t number : order) {
    Operation *instruction = instructions[static_cast<size_t>(number)];
    instruction->moveBefore(instruction->getBlock(), instruction->getBlock()->end());
  }
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
  if (!program::isForGpus(module) || passesMessages(module))
    return added;
  CLEAVE_TRY_ASSIGN(plan::Plan outline, artifact::exportOutline(module));
  if (llvm::none_of(outline.programs(), communicates))
    return added;
  mesh::MeshAttr mesh = mesh::meshOf(module);
  predictInstructions(outline, cluster, mesh ? mesh::toMesh(mesh) : Mesh(),
                      attentionKernels(module));
  std::vector<std::pair<program::ProgramOp, Order>> changed;
  for (auto [op, predicted, grown] :
       llvm::zip(module.getOps<program::ProgramOp>(), outline.programs(), added)) {
    const Timed given = timed(op, predicted);
    Order order = orderOf(given, budget);
    if (std::ranges::is_sorted(order))
      continue;
    grown = peakOf(reordered(given.program, order)) - peakOf(given.program);
    reorder(op, order);
    changed.push_back({op, std::move(order)});
  }
  if (changed.empty() || budget.holds(placedBytes(module)))
    return added;
  for (auto &[op, order] : changed)
    reorder(op, inverse(order));
  return std::vector<int64_t>(added.size(), 0);
}

} // namespace cleave::driver
