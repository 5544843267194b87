// Slots: gives a stage of a pipeline its schedule, and each micro-batch in flight its own buffers.
#pragma once

#include "dialects/graph/Stage.h"
#include "dialects/program/Program.h"

namespace cleave::schedule {

// By micro-batch: its slot. A micro-batch has the lowest slot that is free when its first action
// runs, until its last one has run.
std::vector<int64_t> slotsOf(llvm::ArrayRef<graph::ScheduledAction> schedule);

// By chunk, its slots if it has them for itself. Empty without a schedule.
std::vector<int64_t> slotCounts(llvm::ArrayRef<graph::ScheduledAction> schedule);

// The most micro-batches that have run their forward part and not their backward part when a
// backward part begins, over all chunks; at least 1.
int64_t mostWaiting(llvm::ArrayRef<graph::ScheduledAction> schedule);

// Gives a program with one segment per action and chunk, named by graph::nameOf(), the schedule.
// Each chunk has its own slots, unless it passes values to another chunk of the stage. For each
// slot beyond the first, its segments are repeated, with copies of all buffers that only they
// access. Leaves out the actions of which the program has no segment.
void addSlots(program::ProgramOp program, llvm::ArrayRef<graph::ScheduledAction> schedule);

} // namespace cleave::schedule
