// PartOfGroup: the part of a kernel group that computes some of its results.
#pragma once

#include "compiler/planner/network/Costs.h"

namespace cleave::planner {

// Results and operands of an op, one flag each.
struct GroupPart {
  std::vector<bool> results;  // that it writes
  std::vector<bool> reads;    // results that are given, which it reads instead of computing them
  std::vector<bool> operands; // that it reads
};

// What computing the results `needed` takes, if the results `given` are in memory. An op that is no
// group computes all results from all operands.
GroupPart partOf(const Op &op, const std::vector<bool> &needed, const std::vector<bool> &given);

// Whether it is all of the op.
bool isWhole(const GroupPart &part);

// At most the seconds per step of a kernel that is this part of the op, and of bringing the results
// that it writes to their layouts. Where it is not all of the op, the seconds of what it reads and
// writes; reductions that others may join have their share of the largest bucket.
double secondsOfPart(Costs &costs, const Op &op, const OpChoice &choice, const GroupPart &part);

} // namespace cleave::planner
