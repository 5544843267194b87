// See Queues.h.
#include "passes/schedule/Queues.h"

#include "dialects/program/Program.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::schedule {

// More bytes than any arena has: QueuedProgram numbers them arena after arena.
static constexpr int64_t kMostBytes = int64_t(1) << 60;

static uint32_t queueOf(Operation &instruction, bool isForGpus) {
  if (!isForGpus)
    return isa<program::CopyOp>(instruction) && program::isHostTransfer(&instruction)
               ? kTransferQueue
               : kComputeQueue;
  return isa<program::SendOp>(instruction)               ? kSendQueue
         : isa<program::RecvOp>(instruction)             ? kReceiveQueue
         : instruction.hasTrait<program::Communicates>() ? kCommunicationQueue
         : program::isHostTransfer(&instruction)         ? kTransferQueue
                                                         : kComputeQueue;
}

static bool hasOneQueue(const QueuedProgram &program) {
  return llvm::all_of(program.segments, [](const std::vector<QueuedInstruction> &segment) {
    return llvm::all_of(segment, [](const QueuedInstruction &instruction) {
      return instruction.queue == kComputeQueue;
    });
  });
}

QueuedProgram queuesOf(program::ProgramOp program, bool arePlaced) {
  const bool isForGpus = program::isForGpus(program);
  QueuedProgram result;
  llvm::DenseMap<Value, ByteAccess> bytes; // by buffer
  for (auto [i, buffer] : llvm::enumerate(program.getBody().front().getOps<program::BufferOp>())) {
    const auto arena = static_cast<int64_t>(buffer.getSpace()) * kMostBytes;
    const auto begin =
        arePlaced ? arena + static_cast<int64_t>(buffer.getOffset()) : static_cast<int64_t>(i);
    bytes[buffer.getResult()] = {begin,
                                 begin + (arePlaced ? static_cast<int64_t>(buffer.getBytes()) : 1)};
  }
  for (auto segment : program.getBody().front().getOps<program::SegmentOp>()) {
    auto &instructions = result.segments.emplace_back();
    for (Operation &instruction : segment.getBody().front()) {
      QueuedInstruction &queued = instructions.emplace_back();
      queued.queue = queueOf(instruction, isForGpus);
      if (isa<program::CopyOp>(instruction) && queued.queue != kComputeQueue) {
        auto flight = instruction.getAttrOfType<IntegerAttr>(program::kFlight);
        queued.flight = flight ? flight.getInt() : 0;
      }
      SmallVector<MemoryEffects::EffectInstance> effects;
      cast<MemoryEffectOpInterface>(instruction).getEffects(effects);
      for (const MemoryEffects::EffectInstance &effect : effects)
        if (Value buffer = effect.getValue()) {
          queued.accesses.push_back(bytes.lookup(buffer));
          queued.accesses.back().isWritten = isa<MemoryEffects::Write>(effect.getEffect());
        }
    }
  }
  for (size_t i = 0; i < program.getSchedule().size(); i += 2)
    result.schedule.push_back(program.getSchedule()[i]);
  return result;
}

void assignQueues(ModuleOp module) {
  const bool isForGpus = program::isForGpus(module);
  OpBuilder b(module.getContext());
  for (auto program : module.getOps<program::ProgramOp>())
    for (auto segment : program.getBody().front().getOps<program::SegmentOp>())
      for (Operation &instruction : segment.getBody().front())
        if (uint32_t queue = queueOf(instruction, isForGpus); queue != kComputeQueue)
          instruction.setAttr("queue", b.getI64IntegerAttr(queue));
}

void setWaits(ModuleOp module) {
  OpBuilder b(module.getContext());
  for (auto program : module.getOps<program::ProgramOp>()) {
    const QueuedProgram queued = queuesOf(program, /*arePlaced=*/true);
    if (hasOneQueue(queued))
      continue;
    const QueueOrder order = orderOf(queued);
    size_t number = 0;
    for (auto segment : program.getBody().front().getOps<program::SegmentOp>())
      for (Operation &instruction : segment.getBody().front())
        if (const std::vector<int64_t> &waits = order.waits[number++]; !waits.empty())
          instruction.setAttr("waits", b.getDenseI64ArrayAttr(waits));
  }
}

#define GEN_PASS_DEF_QUEUESPASS
#include "passes/schedule/Passes.h.inc"

namespace {

struct QueuesPass : impl::QueuesPassBase<QueuesPass> {
  void runOnOperation() override {
    assignQueues(getOperation());
    setWaits(getOperation());
  }
};

} // namespace

void registerQueuesPass() { PassRegistration<QueuesPass>(); }

} // namespace cleave::schedule
