// Queues: on GPUs, instructions that compute, that communicate, and that copy between host and
// device are in queues of their own; waits order those that access common bytes (program.proto).
#pragma once

#include "runtime/base/Queue.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <vector>

namespace cleave::schedule {

// Bytes [begin, end) of the arena that an instruction accesses.
struct ByteAccess {
  int64_t begin = 0, end = 0;
  bool isWritten = false;
};

// An instruction in its queue.
struct QueuedInstruction {
  uint32_t queue = kComputeQueue; // below kQueues
  std::vector<ByteAccess> accesses;
};

// The waits of each instruction of a segment: few indices of earlier ones of other queues, so
// that of any two that access common bytes, one of them to write, the earlier is complete before
// the later one starts. Plain data.
std::vector<std::vector<int64_t>> waitsOf(const std::vector<QueuedInstruction> &segment);

// Sets the attributes `queue` and `waits` of the instructions of a program for GPUs whose buffers
// have been placed. Those of a program for CPUs stay in one queue.
void assignQueues(mlir::ModuleOp module);

// Registers --cleave-schedule-queues.
void registerQueuesPass();

} // namespace cleave::schedule
