// See Lifetimes.h.
#include "passes/schedule/Lifetimes.h"

#include "dialects/program/Program.h"
#include "passes/schedule/Queues.h"

using namespace mlir;

namespace cleave::schedule {

void setLifetimes(program::ProgramOp program) {
  struct Life {
    int64_t first, last;
  };
  llvm::DenseMap<Value, Life> lives;
  llvm::DenseSet<Value> loadedEarly;
  std::vector<int64_t> until; // none in flight: empty
  if (program::isForGpus(program))
    until = orderOf(queuesOf(program, /*arePlaced=*/false)).until;
  int64_t number = 0;
  for (auto segment : program.getBody().front().getOps<program::SegmentOp>())
    for (Operation &instruction : segment.getBody().front()) {
      if (auto load = dyn_cast<program::LoadInputOp>(instruction); load && load.getEarly())
        loadedEarly.insert(load.getBuffer());
      for (Value buffer : instruction.getOperands()) {
        Life &life = lives.try_emplace(buffer, Life{number, number}).first->second;
        life.last = std::max(life.last, until.empty() ? number : until[number]);
      }
      ++number;
    }
  for (auto buffer :
       llvm::make_early_inc_range(program.getBody().front().getOps<program::BufferOp>())) {
    const bool isKept = isPersistent(buffer.getRole());
    auto life = lives.find(buffer.getResult());
    if (!isKept && life == lives.end()) {
      buffer.erase();
    } else if (isKept || loadedEarly.contains(buffer.getResult())) {
      buffer.setFirst(0);
      buffer.setLast(std::max<int64_t>(number - 1, 0));
    } else {
      buffer.setFirst(life->second.first);
      buffer.setLast(life->second.last);
    }
  }
}

} // namespace cleave::schedule
