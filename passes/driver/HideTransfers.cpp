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
#include "runtime/base/Parallel.h"

#include <algorithm>
#include <limits>
#include <utility>

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
  const int64_t alignment = program::bufferAlignmentOf(op);
  for (auto buffer : op.getBody().front().getOps<program::BufferOp>()) {
    const int64_t bytes = buffer.getSpace() == Space::Device
                              ? alignedTo(alignment, static_cast<int64_t>(buffer.getBytes()))
                              : 0;
    const bool isAlwaysLive = schedule::isAlwaysLive(buffer);
    result.program.bytes.push_back(isAlwaysLive ? 0 : bytes);
    result.alwaysLive += isAlwaysLive ? bytes : 0;
  }
  return result;
}

// The bytes that the budget leaves for buffers that are not live all the time.
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

// Whether a program copies between spaces.
bool hasFlights(const schedule::TimedProgram &timed) {
  return llvm::any_of(timed.program.segments, [](const auto &segment) {
    return llvm::any_of(segment,
                        [](const schedule::QueuedInstruction &each) { return each.flight >= 0; });
  });
}

Order inverse(const Order &order) {
  Order result(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return result;
}

// An order with overlap. Values are in other spaces to need less device memory: the peak of a
// program with copies between spaces does not rise.
struct Found {
  Order order;
  schedule::TimedProgram program;      // in that order, with flights
  int64_t added = 0, addedByOrder = 0; // bytes at the peak, with flights and without
};

Found find(const Timed &given, const planner::Budget &budget) {
  const int64_t peak = peakOf(given.program);
  const int64_t limit = hasFlights(given.program) ? peak : limitOf(given, budget);
  Found found{.order = schedule::overlapOrder(given.program, limit)};
  const schedule::TimedProgram ordered = reordered(given.program, found.order);
  found.program = withFlights(ordered, peakOf(ordered));
  found.added = peakOf(found.program) - peak;
  found.addedByOrder = peakOf(ordered) - peak;
  return found;
}

// A program in a new order.
struct Reordered {
  program::ProgramOp program;
  Order order;
  size_t number = 0;        // of the program in the module
  bool hasFlights = false;  // copies hold their memory for longer
  int64_t addedByOrder = 0; // bytes at the peak, without that
};

// By program: whether the placed buffers fit the budget.
std::vector<bool> fitWhenPlaced(ModuleOp module, const planner::Budget &budget) {
  OwningOpRef<ModuleOp> copy = module.clone();
  bufferize::placePrograms(*copy, budget.bytes());
  std::vector<bool> fit;
  for (auto program : copy->getOps<program::ProgramOp>())
    fit.push_back(budget.holds(static_cast<int64_t>(program.getArena()->getBytes())));
  return fit;
}

// Ends the flights of programs, then brings them back into their given order, until all fit. The
// buffers of an evaluation lie around those of the step of its ranks, so that both keep their new
// order or none does. `steps`: their number; steps come first.
void undoUntilAllFit(ModuleOp module, const planner::Budget &budget, size_t steps,
                     std::vector<Reordered> &changed, std::vector<int64_t> &added) {
  while (budget.isLimited() && !changed.empty()) {
    const std::vector<bool> fit = fitWhenPlaced(module, budget);
    std::vector<bool> areTooLarge(steps, false); // by step: it or its evaluation
    for (size_t i = 0; i < fit.size(); ++i)
      if (!fit[i])
        areTooLarge[i % steps] = true;
    if (!llvm::is_contained(areTooLarge, true))
      return;
    const size_t before = changed.size();
    bool hadFlights = false;
    llvm::erase_if(changed, [&](Reordered &each) {
      if (!areTooLarge[each.number % steps])
        return false;
      removeFlights(each.program);
      added[each.number] = each.addedByOrder;
      if (std::exchange(each.hasFlights, false)) {
        hadFlights = true;
        return false;
      }
      reorder(each.program, inverse(each.order));
      added[each.number] = 0;
      return true;
    });
    if (changed.size() == before && !hadFlights)
      return;
  }
}

} // namespace

Result<std::vector<int64_t>> hideTransfers(ModuleOp module, const cluster::Cluster &cluster,
                                           const planner::Budget &budget) {
  const llvm::SmallVector<program::ProgramOp> programs(module.getOps<program::ProgramOp>());
  std::vector<int64_t> added(programs.size(), 0);
  if (!program::isForGpus(module) && passesMessages(module))
    return added;
  CLEAVE_TRY_ASSIGN(plan::Plan outline, artifact::exportOutline(module));
  if (llvm::none_of(outline.programs(), transfers))
    return added;
  predictInstructions(outline, module, cluster);
  std::vector<Timed> given;
  for (auto [i, op] : llvm::enumerate(programs))
    given.push_back(timed(op, outline.programs(static_cast<int>(i))));
  std::vector<Found> found(given.size());
  inParallel(given.size(), [&](size_t i) {
    found[i] = find(given[i], budget);
    added[i] = found[i].added;
  });
  std::vector<Reordered> changed;
  for (auto [i, op] : llvm::enumerate(programs)) {
    Found &each = found[i];
    const bool flies = hasFlights(each.program);
    if (std::ranges::is_sorted(each.order) && !flies)
      continue;
    reorder(op, each.order);
    setFlights(op, each.program);
    changed.push_back({op, std::move(each.order), i, flies, each.addedByOrder});
  }
  const auto steps = static_cast<size_t>(llvm::count_if(programs, [](program::ProgramOp program) {
    return program.getKind() == program::Kind::Step;
  }));
  undoUntilAllFit(module, budget, steps, changed, added);
  return added;
}

} // namespace cleave::driver
