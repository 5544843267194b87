// See Away.h.
#include "passes/schedule/Away.h"

#include "dialects/program/Program.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace cleave::schedule {

namespace {

// Consecutive accesses of a buffer in one segment.
struct Use {
  SmallVector<Operation *> accesses; // in program order
  bool isWritten = false;
};

class Copier {
public:
  Copier(program::ProgramOp program, double longPause) : program_(program), longPause_(longPause) {
    double bytes = 0;
    for (auto buffer : program.getBody().front().getOps<program::BufferOp>())
      last_ = buffer;
    SmallVector<program::SegmentOp> segments(
        program.getBody().front().getOps<program::SegmentOp>());
    for (size_t i = 0; i < program.getSchedule().size(); i += 2)
      ++runs_[&segments[program.getSchedule()[i]].getBody().front()];
    for (program::SegmentOp segment : segments)
      for (Operation &instruction : segment.getBody().front()) {
        bytesBefore_[&instruction] = bytes;
        for (Value buffer : instruction.getOperands())
          bytes += static_cast<double>(definitionOf(buffer).getBytes());
        bytesBehind_[&instruction] = bytes;
      }
  }

  llvm::DenseMap<Value, Value> run() {
    const SmallVector<program::BufferOp> buffers(
        program_.getBody().front().getOps<program::BufferOp>());
    for (program::BufferOp buffer : buffers)
      if (buffer.getSpace() != Space::Device)
        copyPersistent(buffer);
      else if (auto space = buffer->getAttrOfType<program::SpaceAttr>(program::kAway))
        copyDuringPause(buffer, space.getValue());
    return std::move(copyOf_);
  }

private:
  static program::BufferOp definitionOf(Value buffer) {
    return buffer.getDefiningOp<program::BufferOp>();
  }

  // The bytes that other instructions access between two accesses.
  double pause(Operation *before, Operation *behind) const {
    return bytesBefore_.lookup(behind) - bytesBehind_.lookup(before);
  }
  double longPause(program::BufferOp buffer) const {
    return longPause_ * static_cast<double>(buffer.getBytes());
  }

  SmallVector<Operation *> accessesOf(program::BufferOp buffer) const {
    llvm::SmallPtrSet<Operation *, 8> users(llvm::from_range, buffer.getResult().getUsers());
    SmallVector<Operation *> accesses(users.begin(), users.end());
    llvm::sort(accesses, [&](Operation *a, Operation *b) {
      return bytesBehind_.lookup(a) != bytesBehind_.lookup(b)
                 ? bytesBehind_.lookup(a) < bytesBehind_.lookup(b)
                 : a->isBeforeInBlock(b); // neither accesses bytes: they are in one segment
    });
    return accesses;
  }

  static void add(Use &use, Operation *access, Value buffer) {
    use.accesses.push_back(access);
    SmallVector<MemoryEffects::EffectInstance> effects;
    cast<MemoryEffectOpInterface>(access).getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects)
      use.isWritten |= effect.getValue() == buffer && isa<MemoryEffects::Write>(effect.getEffect());
  }

  void copyPersistent(program::BufferOp buffer) {
    std::vector<Use> uses;
    for (Operation *access : accessesOf(buffer)) {
      const bool isNew = uses.empty() ||
                         uses.back().accesses.back()->getBlock() != access->getBlock() ||
                         pause(uses.back().accesses.back(), access) >= longPause(buffer);
      if (isNew)
        uses.emplace_back();
      add(uses.back(), access, buffer);
    }
    for (const Use &use : uses) {
      const Value copy = newBuffer(buffer, Space::Device);
      replace(use, buffer, copy);
      copyBefore(use, buffer, copy);
      if (use.isWritten)
        copyBehind(use, copy, buffer);
    }
  }

  void copyDuringPause(program::BufferOp buffer, Space space) {
    buffer->removeAttr(program::kAway);
    const SmallVector<Operation *> accesses = accessesOf(buffer);
    size_t behind = 0; // the longest pause
    for (size_t i = 1; i < accesses.size(); ++i)
      if (behind == 0 ||
          pause(accesses[i - 1], accesses[i]) > pause(accesses[behind - 1], accesses[behind]))
        behind = i;
    const bool isAlwaysNew = llvm::all_of(accesses, [&](Operation *access) {
      return runs_.lookup(access->getBlock()) == runs_.lookup(accesses[0]->getBlock());
    });
    if (behind == 0 || !isAlwaysNew ||
        pause(accesses[behind - 1], accesses[behind]) < longPause(buffer))
      return;
    Use first, second;
    for (auto [i, access] : llvm::enumerate(accesses))
      add(i < behind ? first : second, access, buffer);
    const Value away = newBuffer(buffer, space);
    copyBehind(first, buffer, away);
    const Value back = newBuffer(buffer, Space::Device);
    replace(second, buffer, back);
    copyBefore(second, away, back);
  }

  // A buffer for the same tensor, which does not outlive a step.
  Value newBuffer(program::BufferOp like, Space space) {
    OpBuilder b(like->getContext());
    b.setInsertionPointAfter(last_);
    auto buffer = cast<program::BufferOp>(b.clone(*like));
    last_ = buffer;
    copyOf_[buffer] = like;
    buffer.setSpace(space);
    buffer.setTensor(-1);
    if (isPersistent(buffer.getRole()))
      buffer.setRole(program::Role::Activation);
    return buffer;
  }

  static void replace(const Use &use, Value buffer, Value by) {
    for (Operation *access : use.accesses)
      access->replaceUsesOfWith(buffer, by);
  }

  static void copyBefore(const Use &use, Value from, Value to) {
    OpBuilder b(use.accesses.front());
    copy(b, from, to, use.accesses.front());
  }
  static void copyBehind(const Use &use, Value from, Value to) {
    OpBuilder b(use.accesses.back()->getContext());
    b.setInsertionPointAfter(use.accesses.back());
    copy(b, from, to, use.accesses.back());
  }
  static void copy(OpBuilder &b, Value from, Value to, Operation *access) {
    auto copy = program::CopyOp::create(b, access->getLoc(), from, to);
    if (Attribute source = access->getAttr("source"))
      copy->setAttr("source", source);
  }

  program::ProgramOp program_;
  double longPause_;
  llvm::DenseMap<Value, Value> copyOf_; // by new buffer the one that it was made for
  Operation *last_ = nullptr;           // of the buffers
  llvm::DenseMap<Block *, int> runs_;   // of a segment, per step
  llvm::DenseMap<Operation *, double> bytesBefore_, bytesBehind_; // accessed since the first one
};

} // namespace

llvm::DenseMap<Value, Value> copyAway(program::ProgramOp program, double longPause) {
  return Copier(program, longPause).run();
}

} // namespace cleave::schedule
