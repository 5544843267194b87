// Queue: the queues of a rank's program. Each runs its instructions one after the other; the queues
// run at the same time.
#pragma once

#include <cstdint>

namespace cleave {

// The numbers of Instruction.queue in program.proto, and how many there are.
inline constexpr uint32_t kComputeQueue = 0, kCommunicationQueue = 1, kTransferQueue = 2,
                          kSendQueue = 3, kReceiveQueue = 4;
inline constexpr uint32_t kQueues = 5;

} // namespace cleave
