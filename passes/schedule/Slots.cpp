// See Slots.h.
#include "passes/schedule/Slots.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

using namespace mlir;

namespace cleave::schedule {

std::vector<int64_t> slotsOf(ArrayRef<graph::ScheduledAction> schedule) {
  int64_t microBatches = 0;
  for (const graph::ScheduledAction &each : schedule)
    microBatches = std::max(microBatches, each.microBatch + 1);
  std::vector<size_t> last(microBatches);
  for (auto [i, each] : llvm::enumerate(schedule))
    last[each.microBatch] = i;
  std::vector<int64_t> slots(microBatches, -1);
  std::set<int64_t> free;
  int64_t count = 0;
  for (auto [i, each] : llvm::enumerate(schedule)) {
    int64_t &slot = slots[each.microBatch];
    if (slot < 0) {
      slot = free.empty() ? count++ : *free.begin();
      free.erase(slot);
    }
    if (last[each.microBatch] == i)
      free.insert(slot);
  }
  return slots;
}

std::vector<int64_t> slotCounts(ArrayRef<graph::ScheduledAction> schedule) {
  std::map<int64_t, std::vector<graph::ScheduledAction>> chunks;
  for (const graph::ScheduledAction &each : schedule)
    chunks[each.chunk].push_back(each);
  std::vector<int64_t> counts;
  for (const auto &[chunk, own] : chunks) {
    const std::vector<int64_t> slots = slotsOf(own);
    counts.push_back(slots.empty() ? 1 : 1 + *std::ranges::max_element(slots));
  }
  return counts;
}

int64_t mostWaiting(ArrayRef<graph::ScheduledAction> schedule) {
  int64_t waiting = 0, most = 1;
  for (const graph::ScheduledAction &each : schedule) {
    waiting += each.action == graph::Action::Forward;
    if (each.action != graph::Action::Backward)
      continue;
    most = std::max(most, waiting);
    --waiting;
  }
  return most;
}

namespace {

// The segments of a chunk, by action; null where the program has none.
using Segments = std::array<program::SegmentOp, graph::kActions>;

// Gives a program its slots and its schedule. Chunks that pass values to each other within the
// stage have slots together, others for themselves.
class SlotAdder {
public:
  SlotAdder(program::ProgramOp program, ArrayRef<graph::ScheduledAction> schedule)
      : program_(program), schedule_(schedule) {
    for (const graph::ScheduledAction &each : schedule)
      segments_.resize(std::max<size_t>(segments_.size(), each.chunk + 1),
                       std::vector<Segments>(1));
    for (size_t chunk = 0; chunk < segments_.size(); ++chunk)
      leader_.push_back(chunk);
  }

  void run() {
    findSegments();
    joinChunks();
    for (size_t chunk = 0; chunk < segments_.size(); ++chunk)
      if (leader_[chunk] == chunk)
        addSlots(chunk);
    setSchedule();
  }

private:
  void findSegments() {
    for (auto segment : program_.getBody().front().getOps<program::SegmentOp>()) {
      all_.push_back(segment);
      for (size_t chunk = 0; chunk < segments_.size(); ++chunk)
        for (int64_t action = 0; action < graph::kActions; ++action)
          if (segment.getName() ==
              graph::nameOf(static_cast<graph::Action>(action), static_cast<int64_t>(chunk))) {
            segments_[chunk][0][action] = segment;
            chunkOf_[segment] = chunk;
          }
    }
  }

  // The chunks whose segments access the buffer; none if it outlives a step, or if segments that
  // run once per step access it.
  SmallVector<size_t> accessing(program::BufferOp buffer) const {
    llvm::SmallSetVector<size_t, 4> chunks;
    if (isPersistent(buffer.getRole()))
      return {};
    for (Operation *user : buffer.getResult().getUsers()) {
      auto chunk = chunkOf_.find(user->getParentOp());
      if (chunk == chunkOf_.end())
        return {};
      chunks.insert(chunk->second);
    }
    return chunks.takeVector();
  }

  void joinChunks() {
    for (auto buffer : program_.getBody().front().getOps<program::BufferOp>()) {
      const SmallVector<size_t> chunks = accessing(buffer);
      for (size_t chunk : llvm::drop_begin(chunks, chunks.empty() ? 0 : 1)) {
        const size_t from = leader_[chunk], into = leader_[chunks[0]];
        std::ranges::replace(leader_, std::max(from, into), std::min(from, into));
      }
    }
  }

  // Repeats the segments of the chunks that `leader` leads, with their own buffers.
  void addSlots(size_t leader) {
    std::vector<graph::ScheduledAction> own;
    for (const graph::ScheduledAction &each : schedule_)
      if (leader_[each.chunk] == leader)
        own.push_back(each);
    slots_[leader] = slotsOf(own);
    SmallVector<program::BufferOp> buffers(program_.getBody().front().getOps<program::BufferOp>());
    llvm::erase_if(buffers, [&](program::BufferOp buffer) {
      const SmallVector<size_t> chunks = accessing(buffer);
      return chunks.empty() || leader_[chunks[0]] != leader;
    });
    const std::vector<int64_t> &slots = slots_[leader];
    const int64_t count = slots.empty() ? 1 : 1 + *std::ranges::max_element(slots);
    IRMapping map;
    for (int64_t slot = 1; slot < count; ++slot) {
      for (program::BufferOp buffer : buffers) {
        OpBuilder b(buffer);
        b.setInsertionPointAfter(map.lookupOrDefault(buffer.getResult()).getDefiningOp());
        map.map(buffer.getResult(), b.clone(*buffer)->getResult(0));
      }
      for (size_t chunk = 0; chunk < segments_.size(); ++chunk)
        if (leader_[chunk] == leader)
          repeat(segments_[chunk], map);
    }
  }

  static void repeat(std::vector<Segments> &slots, IRMapping &map) {
    Segments copies;
    for (int64_t action = 0; action < graph::kActions; ++action)
      if (program::SegmentOp before = slots.back()[action]) {
        OpBuilder b(before.getContext());
        b.setInsertionPointAfter(before);
        copies[action] = cast<program::SegmentOp>(b.clone(*slots[0][action], map));
      }
    slots.push_back(copies);
  }

  // Segments that run once per step: before the micro-batches, and the update after them.
  void setSchedule() {
    const SmallVector<program::SegmentOp> segments(
        program_.getBody().front().getOps<program::SegmentOp>());
    SmallVector<int64_t> order;
    auto add = [&](program::SegmentOp segment, int64_t microBatch) {
      if (segment)
        order.append({llvm::find(segments, segment) - segments.begin(), microBatch});
    };
    SmallVector<program::SegmentOp> once;
    for (program::SegmentOp segment : all_)
      if (!chunkOf_.contains(segment))
        once.push_back(segment);
    const program::SegmentOp update = once.empty() ? program::SegmentOp() : once.pop_back_val();
    for (program::SegmentOp segment : once)
      add(segment, 0);
    for (const graph::ScheduledAction &each : schedule_) {
      const int64_t slot = slots_[leader_[each.chunk]][each.microBatch];
      add(segments_[each.chunk][slot][static_cast<int64_t>(each.action)], each.microBatch);
    }
    add(update, 0);
    program_.setSchedule(order);
  }

  program::ProgramOp program_;
  ArrayRef<graph::ScheduledAction> schedule_;
  SmallVector<program::SegmentOp> all_;         // as they were
  std::vector<std::vector<Segments>> segments_; // by chunk and slot
  llvm::DenseMap<Operation *, size_t> chunkOf_; // of a segment
  std::vector<size_t> leader_;                  // by chunk: the first of those that it is joined to
  std::map<size_t, std::vector<int64_t>> slots_; // by leader and micro-batch
};

} // namespace

void addSlots(program::ProgramOp program, ArrayRef<graph::ScheduledAction> schedule) {
  SlotAdder(program, schedule).run();
}

} // namespace cleave::schedule
