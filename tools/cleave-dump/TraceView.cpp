// --trace: the predicted step as a trace.
#include "compiler/schedule/Simulate.h"
#include "compiler/schedule/Trace.h"
#include "compiler/schedule/plan/PlanTimeline.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

namespace cleave::dump {

// The tasks of a step: the instructions of all runs of all ranks.
static uint64_t taskCount(const plan::Plan &plan) {
  uint64_t tasks = 0;
  for (const plan::Program &program : plan.programs())
    for (const plan::ScheduleStep &step : program.schedule())
      if (!isEvaluation(program) && step.segment() < uint32_t(program.segments_size()))
        tasks += uint64_t(program.ranks_size()) *
                 uint64_t(program.segments(int(step.segment())).instructions_size());
  return tasks;
}

Result<std::string> traceView(const plan::Plan &plan) {
  constexpr uint64_t kMostTasks = 1'000'000; // 150 MB of text
  const schedule::Timeline timeline =
      schedule::timelineOf(plan, taskCount(plan) <= kMostTasks ? schedule::TimelineForm::Full
                                                               : schedule::TimelineForm::Segments)
          .timeline;
  CLEAVE_TRY_ASSIGN(const schedule::Simulation simulation, schedule::simulate(timeline));
  return schedule::traceOf(timeline, simulation);
}

} // namespace cleave::dump
