// The queue rule: any two runs of instructions that access common bytes, one of them to write
// them, are ordered by their queues and waits. Happens-before is computed by vector clocks, with
// one entry per queue. See Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Enums.h"
#include "runtime/artifact/Modules.h"
#include "runtime/artifact/VerifyRules.h"
#include "runtime/base/Queue.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cleave::artifact {
namespace {

// The number of instructions of each queue that are complete, or have accessed some bytes.
using Clock = std::array<uint32_t, kQueues>;

// Whether the instruction copies from one space to another.
bool isTransfer(const plan::Program &program, const plan::Instruction &instruction) {
  auto spaceOf = [&](uint32_t buffer) {
    return program.arenas(int(program.buffers(int(buffer)).arena())).space();
  };
  return instruction.has_copy() &&
         spaceOf(instruction.copy().from()) != spaceOf(instruction.copy().to());
}

// The queues of collectives, of sends and of receives.
using QueuesOfCalls = std::map<std::string, uint32_t>;

// All collectives are in one queue, and so are all sends and all receives: their order is then that
// of the list. On CPUs, queue 2 runs copies between spaces alone.
Status verifyQueueOf(const ProgramView &view, const plan::Instruction &instruction,
                     QueuesOfCalls &queues) {
  if (instruction.queue() >= kQueues)
    return Status::defect("it is in queue ", instruction.queue(), ", expected one below ", kQueues);
  if (view.plan.device() == kCpu && instruction.queue() == kTransferQueue &&
      !isTransfer(view.program, instruction))
    return Status::defect("it is in queue ", kTransferQueue,
                          ", in which CPUs only copy between spaces");
  if (!instruction.has_collective())
    return Status::ok();
  const CollectiveKind kind = kindOf(instruction.collective());
  const char *calls = kind == CollectiveKind::Send   ? "sends"
                      : kind == CollectiveKind::Recv ? "receives"
                                                     : "collectives";
  const uint32_t queue = queues.try_emplace(calls, instruction.queue()).first->second;
  return instruction.queue() == queue
             ? Status::ok()
             : Status::defect("it communicates in queue ", instruction.queue(), ", other ", calls,
                              " in queue ", queue);
}

class QueueCheck {
public:
  explicit QueueCheck(const ProgramView &view) : view_(view) {
    for (int s = 0; s < view.program.segments_size(); ++s) {
      first_.push_back(uint32_t(places_.size()));
      for (int i = 0; i < view.program.segments(s).instructions_size(); ++i)
        places_.push_back({s, i});
    }
    isMet_.resize(places_.size());
    splitBytes();
  }

  // Runs the schedule. After two runs of a segment in a row, further ones follow the same runs.
  Status run() {
    clocks_.resize(places_.size());
    const auto &schedule = view_.program.schedule();
    for (int i = 0; i < schedule.size(); ++i)
      if (i < 2 || schedule[i].segment() != schedule[i - 1].segment() ||
          schedule[i].segment() != schedule[i - 2].segment())
        CLEAVE_TRY(runSegment(schedule[i].segment()));
    return verifyMet();
  }

private:
  struct Place {
    int segment, index;
  };
  // The last instruction of each queue that read or wrote the bytes, counted from 1.
  struct Piece {
    Clock read{}, written{};
  };

  // Splits the bytes of all accesses into pieces that each access covers whole or not at all.
  void splitBytes() {
    for (const plan::Segment &segment : view_.program.segments())
      for (const plan::Instruction &instruction : segment.instructions())
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

  Status runSegment(uint32_t segment) {
    for (int i = 0; i < view_.program.segments(int(segment)).instructions_size(); ++i)
      CLEAVE_TRY(
          visit(first_[segment] + uint32_t(i)).withContext(view_.instruction(int(segment), i)));
    return Status::ok();
  }

  const plan::Instruction &instructionAt(uint32_t number) const {
    return view_.program.segments(places_[number].segment).instructions(places_[number].index);
  }
  std::string name(uint32_t number) const {
    return view_.instruction(places_[number].segment, places_[number].index);
  }

  Status visit(uint32_t number) {
    const plan::Instruction &instruction = instructionAt(number);
    const uint32_t queue = instruction.queue();
    Clock before = lastOf_[queue];
    for (uint32_t wait : instruction.waits()) {
      if (wait >= places_.size())
        return Status::defect("it waits for instruction ", wait, " of ", places_.size());
      if (instructionAt(wait).queue() == queue)
        return Status::defect("it waits for instruction ", wait, " of its own queue");
      if (!clocks_[wait])
        continue;
      isMet_[number].insert(wait);
      for (uint32_t q = 0; q < kQueues; ++q)
        before[q] = std::max(before[q], (*clocks_[wait])[q]);
    }
    Clock after = before;
    after[queue] = ++started_[queue];
    members_[queue].push_back(number);
    lastOf_[queue] = after;
    clocks_[number] = after;
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
      if (q != queue && accesses[q] > before[q])
        return Status::defect("it accesses ", quoted(view_, access.buffer), " without a wait for ",
                              name(members_[q][accesses[q] - 1]), ", which ", what,
                              " the same bytes");
    return Status::ok();
  }

  // A wait that orders nothing in any run is a mistake.
  Status verifyMet() const {
    for (const plan::ScheduleStep &step : view_.program.schedule())
      for (int i = 0; i < view_.program.segments(int(step.segment())).instructions_size(); ++i) {
        const uint32_t number = first_[step.segment()] + uint32_t(i);
        for (uint32_t wait : instructionAt(number).waits())
          if (!isMet_[number].contains(wait))
            return Status::defect(name(number), ": it waits for instruction ", wait,
                                  ", which never runs before it");
      }
    return Status::ok();
  }

  const ProgramView &view_;
  std::vector<uint32_t> first_;           // by segment: the number of its first instruction
  std::vector<Place> places_;             // by number of the instruction
  std::vector<std::set<uint32_t>> isMet_; // by instruction: its waits that ordered some run
  // The state after the runs so far:
  std::map<std::pair<uint32_t, uint64_t>, Piece> pieces_; // by arena and first byte
  std::vector<std::optional<Clock>> clocks_;              // by instruction: its completion
  Clock started_{};                                       // instructions of each queue so far
  std::array<Clock, kQueues> lastOf_{};                   // of the last instruction of each queue
  std::array<std::vector<uint32_t>, kQueues> members_{};  // by queue: its instructions
};

} // namespace

static bool hasWaits(const plan::Program &program) {
  return std::ranges::any_of(program.segments(), [](const plan::Segment &segment) {
    return std::ranges::any_of(segment.instructions(),
                               [](const plan::Instruction &one) { return one.waits_size() > 0; });
  });
}

Status verifyQueues(const ProgramView &view) {
  if (hasOneQueue(view.program) && !hasWaits(view.program))
    return Status::ok();
  QueuesOfCalls queues;
  for (int s = 0; s < view.program.segments_size(); ++s) {
    const plan::Segment &segment = view.program.segments(s);
    for (int i = 0; i < segment.instructions_size(); ++i)
      CLEAVE_TRY(
          verifyQueueOf(view, segment.instructions(i), queues).withContext(view.instruction(s, i)));
  }
  return QueueCheck(view).run();
}

} // namespace cleave::artifact
