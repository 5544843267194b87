// See Slots.h.
#include "passes/schedule/Slots.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <algorithm>
#include <array>
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

namespace {

// The segments of the actions; null where the program has none.
using Segments = std::array<program::SegmentOp, graph::kActions>;

Segments segmentsOf(program::ProgramOp program) {
  Segments segments;
  for (auto segment : program.getBody().front().getOps<program::SegmentOp>())
    for (int64_t action = 0; action < graph::kActions; ++action)
      if (segment.getName() == graph::nameOf(static_cast<graph::Action>(action)))
        segments[action] = segment;
  return segments;
}

// The buffers that only these segments access and that do not outlive a step.
SmallVector<program::BufferOp> ownBuffers(program::ProgramOp program, const Segments &segments) {
  SmallVector<program::BufferOp> own(program.getBody().front().getOps<program::BufferOp>());
  llvm::erase_if(own, [&](program::BufferOp buffer) {
    return isPersistent(buffer.getRole()) ||
           llvm::any_of(buffer.getResult().getUsers(), [&](Operation *user) {
             return !llvm::is_contained(segments, user->getParentOp());
           });
  });
  return own;
}

} // namespace

void addSlots(program::ProgramOp program, ArrayRef<graph::ScheduledAction> schedule) {
  const std::vector<int64_t> slots = slotsOf(schedule);
  std::vector<Segments> segments = {segmentsOf(program)};
  const SmallVector<program::BufferOp> own = ownBuffers(program, segments[0]);
  const int64_t count = slots.empty() ? 1 : 1 + *std::max_element(slots.begin(), slots.end());
  for (int64_t slot = 1; slot < count; ++slot) {
    IRMapping map;
    for (program::BufferOp buffer : own) {
      OpBuilder b(buffer);
      b.setInsertionPointAfter(map.lookupOrDefault(buffer.getResult()).getDefiningOp());
      Operation *copy = b.clone(*buffer);
      map.map(buffer.getResult(), copy->getResult(0));
    }
    Segments copies;
    for (int64_t action = 0; action < graph::kActions; ++action)
      if (program::SegmentOp before = segments.back()[action]) {
        OpBuilder b(program.getContext());
        b.setInsertionPointAfter(before);
        copies[action] = cast<program::SegmentOp>(b.clone(*segments[0][action], map));
      }
    segments.push_back(copies);
  }
  SmallVector<program::SegmentOp> all(program.getBody().front().getOps<program::SegmentOp>());
  SmallVector<int64_t> order;
  auto add = [&](program::SegmentOp segment, int64_t microBatch) {
    if (segment)
      order.append({llvm::find(all, segment) - all.begin(), microBatch});
  };
  auto isOfAction = [&](program::SegmentOp segment) {
    return llvm::any_of(segments,
                        [&](const Segments &each) { return llvm::is_contained(each, segment); });
  };
  // Segments that run once per step: before the micro-batches, and the update after them.
  SmallVector<program::SegmentOp> once = llvm::to_vector(
      llvm::make_filter_range(all, [&](program::SegmentOp each) { return !isOfAction(each); }));
  program::SegmentOp update = once.empty() ? program::SegmentOp() : once.back();
  for (program::SegmentOp segment : once)
    if (segment != update)
      add(segment, 0);
  for (const graph::ScheduledAction &each : schedule)
    add(segments[slots[each.microBatch]][static_cast<int64_t>(each.action)], each.microBatch);
  add(update, 0);
  program.setSchedule(order);
}

} // namespace cleave::schedule
