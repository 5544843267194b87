// The rule of early loads: a load that runs while the step before runs disturbs nothing but the
// accesses of that step to the same buffer, which are complete before. See Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/VerifyRules.h"
#include "runtime/base/Queue.h"

#include <algorithm>

namespace cleave::artifact {
namespace {

// Whether a step runs the segment first, and only once.
bool runsFirstAndOnce(const plan::Program &program, int segment) {
  return program.kind() == plan::Program::STEP &&
         program.schedule(0).segment() == uint32_t(segment) &&
         std::ranges::count(program.schedule(), uint32_t(segment), &plan::ScheduleStep::segment) ==
             1;
}

// The memory of the buffer is its own throughout the step.
Status verifyIsAlwaysLive(const ProgramView &view, uint32_t index) {
  uint32_t instructions = 0;
  for (const plan::Segment &segment : view.program.segments())
    instructions += uint32_t(segment.instructions_size());
  const plan::Buffer &buffer = at(view, index);
  return buffer.first() == 0 && buffer.last() + 1 == instructions
             ? Status::ok()
             : Status::defect("it is early, but ", quoted(view, index), " is live from ",
                              buffer.first(), " to ", buffer.last(), ", expected 0 to ",
                              instructions - 1);
}

// The other accesses of the buffer are reads in the segment of the load.
Status verifyOtherAccesses(const ProgramView &view, uint32_t buffer, int segment, int load) {
  for (int s = 0; s < view.program.segments_size(); ++s)
    for (int i = 0; i < view.program.segments(s).instructions_size(); ++i) {
      if (s == segment && i == load)
        continue;
      for (const Access &access :
           accessesOf(view.program, view.program.segments(s).instructions(i)))
        if (access.buffer == buffer && (access.writes || s != segment))
          return Status::defect("it is early, but ", view.instruction(s, i),
                                access.writes ? " writes " : " reads ", quoted(view, buffer),
                                access.writes ? ", too" : " in another segment");
    }
  return Status::ok();
}

Status verifyEarly(const ProgramView &view, int segment, int index) {
  const plan::Instruction &load = view.program.segments(segment).instructions(index);
  if (!runsFirstAndOnce(view.program, segment))
    return Status::defect("it is early, expected in the segment that a step runs first, once");
  if (load.queue() != kTransferQueue || !load.waits().empty())
    return Status::defect("it is early in queue ", load.queue(), " with ", load.waits_size(),
                          " waits, expected queue ", kTransferQueue, " and no waits");
  CLEAVE_TRY(verifyIsAlwaysLive(view, load.load_input().buffer()));
  return verifyOtherAccesses(view, load.load_input().buffer(), segment, index);
}

} // namespace

Status verifyEarlyLoads(const ProgramView &view) {
  for (int s = 0; s < view.program.segments_size(); ++s)
    for (int i = 0; i < view.program.segments(s).instructions_size(); ++i)
      if (view.program.segments(s).instructions(i).load_input().early())
        CLEAVE_TRY(verifyEarly(view, s, i).withContext(view.instruction(s, i)));
  return Status::ok();
}

} // namespace cleave::artifact
