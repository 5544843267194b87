// Trace: a simulated timeline in the trace event format of Chrome, which Perfetto (ui.perfetto.dev)
// shows. A rank is a process with a track per resource and a counter of the live bytes of each of
// its spaces.
#pragma once

#include "compiler/schedule/Simulate.h"

#include <string>

namespace cleave::schedule {

// The JSON text, about 120 bytes per task. Tasks of 0 seconds are left out. `simulation` is the
// result for this timeline.
std::string traceOf(const Timeline &timeline, const Simulation &simulation);

} // namespace cleave::schedule
