// PlanTimeline: the timeline of one step of a plan, from the queues, waits and schedules of its
// programs (program.proto), without evaluations.
#pragma once

#include "compiler/schedule/Timeline.h"
#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <vector>

namespace cleave::schedule {

// The ranks and runs that have tasks.
enum class TimelineForm {
  Full,     // all ranks and every run of a segment
  Folded,   // one of the ranks that do the same, such as one per stage of a pipeline. If all ranks
            // run one program and this has one queue: each segment once, its instructions as long
            // as in all runs together. Makespan, busy and exposed seconds equal the full form
  Segments, // each segment once, with the seconds of one run, for pictures; rank 0 only if all
            // ranks run one program
};

// The tasks of one run of a segment: one per instruction, in order.
struct SegmentRun {
  uint32_t rank = 0;
  uint32_t segment = 0;
  uint32_t firstTask = 0;
};

struct PlanTimeline {
  Timeline timeline; // units are the programs; an evaluation has no ranks
  std::vector<SegmentRun> runs;
};

// Collectives occupy link 0 of their rank, as do messages on CPUs; on GPUs, sends occupy link 1 and
// receives link 2, as if all of them had the bandwidth of the network. Transfers between host and
// device and the loading of inputs occupy the host link, and all others the compute resource.
// Buffers that are accessed in one segment only have a slot per run. Indices into nothing are left
// out, so that a defective plan can be looked at; simulate() finds collectives that do not meet.
PlanTimeline timelineOf(const plan::Plan &plan, TimelineForm form);

// The resource that the instruction occupies.
ResourceKind resourceKindOf(const plan::Instruction &instruction);

} // namespace cleave::schedule
