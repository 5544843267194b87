// The phase `program`.
//
//  P1  The module keeps the promise of `scheduled`.
//  P2  A buffer begins at a multiple of 64 bytes (on GPUs 256, in a file 4096) and ends inside the
//      arena of its space.
//  P3  No two buffers of one space that live at the same time share a byte.
//  P4  The programs of a rank have the same buffers of parameters, states, constants,
//      hyperparameters and coordinates at the same offsets.
//
// runtime/artifact/Verify.h checks the plan that is made of the program once more, with the data
// flow, the waits and the order of collectives.
#include "passes/promise/Promise.h"

#include "dialects/program/Program.h"
#include "passes/promise/Rules.h"

#include <map>
#include <tuple>

using namespace mlir;

namespace cleave::promise {

static constexpr StringLiteral kProgramPhase = "program";

static InFlightDiagnostic brokenBuffer(program::BufferOp buffer, StringRef rule) {
  return broken(buffer.getLoc(), kProgramPhase, rule) << "buffer '" << buffer.getName() << "' ";
}

// P2
static LogicalResult checkPlaces(program::ProgramOp program) {
  if (!program.getArena())
    return broken(program.getLoc(), kProgramPhase, "P2") << "a program has no arena";
  for (auto buffer : program.getBody().front().getOps<program::BufferOp>()) {
    const program::ArenaAttr arena = program.arenaIn(buffer.getSpace());
    const int64_t bytes = arena ? arena.getBytes() : 0;
    const int64_t alignment = program::bufferAlignmentOf(program, buffer.getSpace());
    const auto offset = static_cast<int64_t>(buffer.getOffset());
    const int64_t end = offset + static_cast<int64_t>(buffer.getBytes());
    if (offset < 0 || offset % alignment != 0)
      return brokenBuffer(buffer, "P2")
             << "begins at byte " << offset << ", expected a multiple of " << alignment;
    if (end > bytes)
      return brokenBuffer(buffer, "P2") << "ends at byte " << end << " of an arena of " << bytes;
  }
  return success();
}

// P3. Goes through births and deaths in the order of time; buffers that are alive are kept by
// offset, so that one that overlaps a new one is among its neighbours.
static LogicalResult checkOverlap(program::ProgramOp program, Space space) {
  using Event = std::tuple<int64_t, bool, int64_t>; // position, is a death, number
  SmallVector<program::BufferOp> buffers;
  std::vector<Event> events;
  for (auto buffer : program.getBody().front().getOps<program::BufferOp>()) {
    int64_t number = static_cast<int64_t>(buffers.size());
    buffers.push_back(buffer);
    if (buffer.getBytes() == 0 || buffer.getSpace() != space)
      continue;
    events.push_back({static_cast<int64_t>(buffer.getFirst()), false, number});
    events.push_back({static_cast<int64_t>(buffer.getLast()), true, number});
  }
  llvm::sort(events);
  std::map<uint64_t, program::BufferOp> alive;
  for (auto [position, isDeath, number] : events) {
    program::BufferOp buffer = buffers[number];
    uint64_t begin = buffer.getOffset(), end = begin + buffer.getBytes();
    if (isDeath) {
      alive.erase(begin);
      continue;
    }
    auto next = alive.lower_bound(begin);
    program::BufferOp other;
    if (next != alive.end() && next->first < end)
      other = next->second;
    else if (next != alive.begin() &&
             std::prev(next)->first + std::prev(next)->second.getBytes() > begin)
      other = std::prev(next)->second;
    if (other)
      return brokenBuffer(buffer, "P3")
             << "shares bytes with buffer '" << other.getName() << "' at instruction " << position;
    alive.emplace(begin, buffer);
  }
  return success();
}

static SmallVector<program::BufferOp> persistentBuffersOf(program::ProgramOp program) {
  SmallVector<program::BufferOp> buffers;
  for (auto buffer : program.getBody().front().getOps<program::BufferOp>())
    if (isPersistent(buffer.getRole()))
      buffers.push_back(buffer);
  return buffers;
}

static LogicalResult checkShared(program::ProgramOp step, program::ProgramOp other) {
  auto isSame = [](program::BufferOp a, program::BufferOp b) {
    return a.getRole() == b.getRole() && a.getTensor() == b.getTensor() &&
           a.getSpace() == b.getSpace() && a.getOffset() == b.getOffset() &&
           a.getBytes() == b.getBytes();
  };
  SmallVector<program::BufferOp> expected = persistentBuffersOf(step);
  SmallVector<program::BufferOp> found = persistentBuffersOf(other);
  if (expected.size() != found.size())
    return broken(other.getLoc(), kProgramPhase, "P4")
           << "a program has " << found.size() << " persistent buffers, the step has "
           << expected.size();
  for (auto [mine, its] : llvm::zip(found, expected))
    if (!isSame(mine, its))
      return broken(mine.getLoc(), kProgramPhase, "P4")
             << "buffer '" << mine.getName() << "' is not at the place of buffer '" << its.getName()
             << "' of the step";
  return success();
}

// P4
static LogicalResult checkTogether(ModuleOp module) {
  for (auto step : module.getOps<program::ProgramOp>())
    for (auto other : module.getOps<program::ProgramOp>())
      if (step.getKind() == program::Kind::Step && other != step && shareRank(step, other) &&
          failed(checkShared(step, other)))
        return failure();
  return success();
}

LogicalResult checkProgram(ModuleOp module) {
  if (failed(checkScheduled(module)))
    return failure();
  for (auto program : module.getOps<program::ProgramOp>())
    if (failed(checkPlaces(program)) || !llvm::all_of(kSpaces, [&](Space space) {
          return succeeded(checkOverlap(program, space));
        }))
      return failure();
  return checkTogether(module);
}

} // namespace cleave::promise
