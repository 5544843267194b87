// The queue rule: any two instructions of a segment that access common bytes, one of them to write
// them, are ordered by their queues and waits. Happens-before is computed by vector clocks, with
// one entry per queue. See Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/VerifyRules.h"
#include "runtime/base/Queue.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace cleave::artifact {
namespace {

// The number of instructions of each queue that are complete, or have accessed some bytes.
using Clock = std::array<uint32_t, kQueues>;

// The queue of the segment's collectives is that of all: their order is then that of the list.
Status verifyQueueOf(const plan::Instruction &instruction, uint32_t communicating) {
  if (instruction.queue() >= kQueues)
    return Status::defect("it is in queue ", instruction.queue(), ", expected one below ", kQueues);
  if (instruction.has_collective() && instruction.queue() != communicating)
    return Status::defect("it communicates in queue ", instruction.queue(),
                          ", other collectives in queue ", communicating);
  return Status::ok();
}

class QueueCheck {
public:
  QueueCheck(const ProgramView &view, int segment)
      : view_(view), segment_(segment), list_(view.program.segments(segment)) {}

  Status run() {
    splitBytes();
    for (int i = 0; i < list_.instructions_size(); ++i)
      CLEAVE_TRY(visit(i).withContext(view_.instruction(segment_, i)));
    return Status::ok();
  }

private:
  // The last instruction of each queue that read or wrote the bytes, counted from 1.
  struct Piece {
    Clock read{}, written{};
  };

  // Splits the bytes of all accesses into pieces that each access covers whole or not at all.
  void splitBytes() {
    for (const plan::Instruction &instruction : list_.instructions())
      for (const Access &access : accessesOf(view_.program, instruction)) {
        auto [arena, begin, end] = bytesOf(access);
        pieces_[{arena, begin}], pieces_[{arena, end}];
      }
  }

  std::tuple<uint32_t, uint64_t, uint64_t> bytesOf(const Access &access) const {
    const plan::Buffer &buffer = at(view_, access.buffer);
    uint64_t bytes = access.bytes ? access.bytes : buffer.bytes();
    return {buffer.arena(), buffer.offset(), buffer.offset() + bytes};
  }

  Status visit(int index) {
    const plan::Instruction &instruction = list_.instructions(index);
    const uint32_t queue = instruction.queue();
    Clock before = latest_[queue];
    for (uint32_t wait : instruction.waits()) {
      if (wait >= uint32_t(index))
        return Status::defect("it waits for instruction ", wait, ", expected an earlier one");
      if (list_.instructions(int(wait)).queue() == queue)
        return Status::defect("it waits for instruction ", wait, " of its own queue");
      for (uint32_t q = 0; q < kQueues; ++q)
        before[q] = std::max(before[q], clocks_[wait][q]);
    }
    Clock after = before;
    after[queue] = ++started_[queue];
    members_[queue].push_back(index);
    latest_[queue] = after;
    clocks_.push_back(after);
    for (const Access &access : accessesOf(view_.program, instruction))
      CLEAVE_TRY(touch(access, queue, before));
    return Status::ok();
  }

  Status touch(const Access &access, uint32_t queue, const Clock &before) {
    auto [arena, begin, end] = bytesOf(access);
    for (auto piece = pieces_.find({arena, begin}); piece->first != std::pair(arena, end);
         ++piece) {
      Piece &bytes = piece->second;
      CLEAVE_TRY(verifyOrder(access, bytes.written, queue, before, "writes"));
      if (access.writes)
        CLEAVE_TRY(verifyOrder(access, bytes.read, queue, before, "reads"));
      (access.writes ? bytes.written : bytes.read)[queue] = started_[queue];
    }
    return Status::ok();
  }

  // Of each other queue, the last access has to happen before; earlier ones then do, too.
  Status verifyOrder(const Access &access, const Clock &accesses, uint32_t queue,
                     const Clock &before, const char *what) const {
    for (uint32_t q = 0; q < kQueues; ++q)
      if (q != queue && accesses[q] > before[q]) {
        int other = members_[q][accesses[q] - 1];
        return Status::defect("it accesses ", quoted(view_, access.buffer), " without a wait for ",
                              view_.instruction(segment_, other), ", which ", what,
                              " the same bytes");
      }
    return Status::ok();
  }

  const ProgramView &view_;
  int segment_;
  const plan::Segment &list_;
  std::map<std::pair<uint32_t, uint64_t>, Piece> pieces_; // by arena and first byte
  std::vector<Clock> clocks_;                       // by instruction: what is complete when it is
  Clock started_{};                                 // instructions of each queue so far
  std::array<Clock, kQueues> latest_{};             // of the last instruction of each queue
  std::array<std::vector<int>, kQueues> members_{}; // by queue: its instructions
};

} // namespace

Status verifyQueues(const ProgramView &view) {
  std::optional<uint32_t> communicating;
  for (int s = 0; s < view.program.segments_size(); ++s) {
    const plan::Segment &segment = view.program.segments(s);
    for (int i = 0; i < segment.instructions_size(); ++i) {
      if (segment.instructions(i).has_collective() && !communicating)
        communicating = segment.instructions(i).queue();
      CLEAVE_TRY(verifyQueueOf(segment.instructions(i), communicating.value_or(0))
                     .withContext(view.instruction(s, i)));
    }
    CLEAVE_TRY(QueueCheck(view, s).run());
  }
  return Status::ok();
}

} // namespace cleave::artifact
