// See Lifetimes.h.
#include "passes/schedule/Lifetimes.h"

#include "dialects/program/Program.h"
#include "passes/schedule/Queues.h"

using namespace mlir;

namespace cleave::schedule {

bool isAlwaysLive(program::BufferOp buffer) {
  return isPersistent(buffer.getRole()) ||
         llvm::any_of(buffer.getResult().getUsers(), [&](Operation *user) {
           auto load = dyn_cast<program::LoadInputOp>(user);
           return load && load.getEarly() && load.getBuffer() == buffer.getResult();
         });
}

void setLifetimes(program::ProgramOp program) {
  const SmallVector<program::BufferOp> buffers(
      program.getBody().front().getOps<program::BufferOp>());
  const QueuedProgram queued = queuesOf(program, /*arePlaced=*/false);
  const Lives lives = livesOf(queued, buffers.size());
  int64_t end = 0; // the number of instructions
  for (const auto &instructions : queued.segments)
    end += static_cast<int64_t>(instructions.size());
  for (auto [i, op] : llvm::enumerate(buffers)) {
    program::BufferOp buffer = op;
    if (isAlwaysLive(buffer)) {
      buffer.setFirst(0);
      buffer.setLast(std::max<int64_t>(end - 1, 0));
    } else if (lives.first[i] < 0) {
      buffer.erase();
    } else {
      buffer.setFirst(lives.first[i]);
      buffer.setLast(lives.last[i]);
    }
  }
}

} // namespace cleave::schedule
