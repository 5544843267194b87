// See Lifetimes.h.
#include "passes/schedule/Lifetimes.h"

#include "dialects/program/Program.h"
#include "passes/schedule/Queues.h"

using namespace mlir;

namespace cleave::schedule {

void setLifetimes(program::ProgramOp program) {
  const SmallVector<program::BufferOp> buffers(
      program.getBody().front().getOps<program::BufferOp>());
  const QueuedProgram queued = queuesOf(program, /*arePlaced=*/false);
  const Lives lives = livesOf(queued, buffers.size());
  llvm::DenseSet<Value> loadedEarly;
  program.walk([&](program::LoadInputOp load) {
    if (load.getEarly())
      loadedEarly.insert(load.getBuffer());
  });
  int64_t end = 0; // the number of instructions
  for (const auto &instructions : queued.segments)
    end += static_cast<int64_t>(instructions.size());
  for (auto [i, op] : llvm::enumerate(buffers)) {
    program::BufferOp buffer = op;
    const bool isKept = isPersistent(buffer.getRole());
    if (!isKept && lives.first[i] < 0) {
      buffer.erase();
    } else if (isKept || loadedEarly.contains(buffer.getResult())) {
      buffer.setFirst(0);
      buffer.setLast(std::max<int64_t>(end - 1, 0));
    } else {
      buffer.setFirst(lives.first[i]);
      buffer.setLast(lives.last[i]);
    }
  }
}

} // namespace cleave::schedule
