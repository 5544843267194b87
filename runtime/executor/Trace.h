// Trace: a run in the trace event format of Chrome, which Perfetto (ui.perfetto.dev) shows.
//
// Each rank is a process with a track for what it computes, communicates and copies, and one for
// the prediction; and with counters of the memory that holds values, and of the rates of
// instructions. Arrows lead from the rank that came last to a collective to those that waited.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/executor/ExecutionProfile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::executor {

// A rank's events as JSON objects, one per line, separated by commas: a part of a trace. Its
// program is the one whose instructions were recorded.
std::string traceEvents(const plan::Plan &plan, uint32_t rank, const ExecutionProfile &profile);

// Writes a trace of the events of several ranks, with the arrows between them. A user error if the
// file cannot be written.
Status writeTrace(const std::string &path, const std::vector<std::string> &eventsOfRanks);

} // namespace cleave::executor
