// Per queue of each instruction, the last instruction of that queue that has to be complete before
// it: the last one in conflict with it, unless its predecessor or another wait implies it.
#include "passes/schedule/Queues.h"

#include "dialects/program/Program.h"

#include "mlir/Pass/Pass.h"

#include <algorithm>
#include <array>

using namespace mlir;

namespace cleave::schedule {

// By queue: the last instruction that is known to be complete; -1: none.
using Complete = std::array<int64_t, kQueues>;

static bool conflicts(const QueuedInstruction &a, const QueuedInstruction &b) {
  for (const ByteAccess &x : a.accesses)
    for (const ByteAccess &y : b.accesses)
      if ((x.isWritten || y.isWritten) && x.begin < y.end && y.begin < x.end)
        return true;
  return false;
}

std::vector<std::vector<int64_t>> waitsOf(const std::vector<QueuedInstruction> &segment) {
  std::vector<std::vector<int64_t>> waits(segment.size());
  std::vector<Complete> complete(segment.size()); // when the instruction is
  std::array<std::vector<int64_t>, kQueues> members;
  for (size_t i = 0; i < segment.size(); ++i) {
    const uint32_t queue = segment[i].queue;
    Complete known;
    known.fill(-1);
    if (!members[queue].empty())
      known = complete[members[queue].back()];
    // The conflicts of all queues, the latest first, so that it can imply the others.
    std::vector<int64_t> needed;
    for (uint32_t other = 0; other < kQueues; ++other)
      for (auto at = members[other].rbegin();
           other != queue && at != members[other].rend() && *at > known[other]; ++at)
        if (conflicts(segment[*at], segment[i])) {
          needed.push_back(*at);
          break;
        }
    std::sort(needed.rbegin(), needed.rend());
    for (int64_t wait : needed) {
      if (wait <= known[segment[wait].queue])
        continue;
      waits[i].push_back(wait);
      for (uint32_t q = 0; q < kQueues; ++q)
        known[q] = std::max(known[q], complete[wait][q]);
    }
    std::sort(waits[i].begin(), waits[i].end());
    known[queue] = static_cast<int64_t>(i);
    complete[i] = known;
    members[queue].push_back(static_cast<int64_t>(i));
  }
  return waits;
}

static QueuedInstruction queued(Operation &instruction) {
  QueuedInstruction result;
  result.queue = instruction.hasTrait<program::Communicates>()   ? kCommunicationQueue
                 : instruction.hasTrait<program::HostTransfer>() ? kTransferQueue
                                                                 : kComputeQueue;
  SmallVector<MemoryEffects::EffectInstance> effects;
  cast<MemoryEffectOpInterface>(instruction).getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (Value value = effect.getValue()) {
      auto buffer = value.getDefiningOp<program::BufferOp>();
      int64_t begin = static_cast<int64_t>(buffer.getOffset());
      result.accesses.push_back({begin, begin + static_cast<int64_t>(buffer.getBytes()),
                                 isa<MemoryEffects::Write>(effect.getEffect())});
    }
  return result;
}

void assignQueues(ModuleOp module) {
  if (!program::isForGpus(module))
    return;
  OpBuilder b(module.getContext());
  for (auto program : module.getOps<program::ProgramOp>())
    for (auto segment : program.getBody().front().getOps<program::SegmentOp>()) {
      std::vector<QueuedInstruction> instructions;
      for (Operation &instruction : segment.getBody().front())
        instructions.push_back(queued(instruction));
      std::vector<std::vector<int64_t>> waits = waitsOf(instructions);
      for (auto [i, instruction] : llvm::enumerate(segment.getBody().front())) {
        if (instructions[i].queue != kComputeQueue)
          instruction.setAttr("queue", b.getI64IntegerAttr(instructions[i].queue));
        if (!waits[i].empty())
          instruction.setAttr("waits", b.getDenseI64ArrayAttr(waits[i]));
      }
    }
}

#define GEN_PASS_DEF_QUEUESPASS
#include "passes/schedule/Passes.h.inc"

namespace {

struct QueuesPass : impl::QueuesPassBase<QueuesPass> {
  void runOnOperation() override { assignQueues(getOperation()); }
};

} // namespace

void registerQueuesPass() { PassRegistration<QueuesPass>(); }

} // namespace cleave::schedule
