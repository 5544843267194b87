// The flight record: what every rank was doing when a job failed (docs/interface.md).
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/launch/RankReport.h"

#include <string>
#include <vector>

namespace cleave::run {

// A failure, and the ranks that are known of.
struct FlightRecord {
  std::string reason; // the message of the failure
  int exitCode = 0;
  int restarts = 0; // before this failure
  std::vector<launch::RankReport> ranks;
};

// Writes the record as JSON. A user error if the file cannot be written.
Status writeFlightRecord(const std::string &path, const plan::Plan &plan,
                         const FlightRecord &record);

// The most useful of it in at most two lines: of a lost rank, and of the one that has waited
// longest.
std::vector<std::string> flightLines(const plan::Plan &plan, const FlightRecord &record);

} // namespace cleave::run
