// Waits: what each instruction of a program with several queues waits for, and how long transfers
// are in flight. Plain data.
#pragma once

#include "runtime/base/Queue.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleave::schedule {

// Bytes [begin, end) that an instruction accesses.
struct ByteAccess {
  int64_t begin = 0, end = 0;
  bool isWritten = false;
};

// An instruction in its queue.
struct QueuedInstruction {
  uint32_t queue = kComputeQueue; // below kQueues
  std::vector<ByteAccess> accesses;
  // How many instructions after it may run while it is in flight; -1: those before the first one of
  // queue 0 that has to wait for it. The bytes that it accesses are in use until then.
  int64_t flight = -1;
};

// The instructions of a program, numbered over all segments in order.
struct QueuedProgram {
  std::vector<std::vector<QueuedInstruction>> segments;
  std::vector<int64_t> schedule; // the segments that a step runs, in order
};

// The order of a program's instructions on queues.
struct QueueOrder {
  // By instruction: few others, in ascending order, whose latest run before it has to be complete
  // before it starts (program.proto). They order any two runs that access common bytes, one of them
  // to write.
  std::vector<std::vector<int64_t>> waits;
  // By instruction: the last one of its segment that may run beside it. For those of queue 0, the
  // instruction itself; for others, the one before the first of queue 0 that starts after they are
  // complete, or the end of the segment, but no more than their `flight` after them.
  std::vector<int64_t> until;
};

// The waits that order a program, which has none yet.
QueueOrder orderOf(const QueuedProgram &program);

// By buffer: the first instruction that accesses it, and the last one that may run while an access
// is in flight (QueueOrder::until); -1: none accesses it.
struct Lives {
  std::vector<int64_t> first, last;
};

// The lives of the buffers of a program without places: byte i stands for buffer number i. If a
// buffer passes a value from one segment to another, the segments that run in between are within
// its life.
Lives livesOf(const QueuedProgram &program, size_t buffers);

} // namespace cleave::schedule
