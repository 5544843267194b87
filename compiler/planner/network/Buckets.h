// Buckets: reductions that one call makes together, so that the latency of a call is paid once.
//
// The reduction of an op's result can be joined if it is a single all_reduce, and if the result is
// read late: first by an op far behind its producer, or by the update only, which can wait
// (Costs::joinable). In the order of the ops, members are added to a bucket of equal axes,
// reduction, element type and number of runs, and of one part of a stage, since a message does not
// wait for later parts. A bucket ends when it is full (kBucketBytes) or when the first reader of a
// member comes. Partitioning marks the members, passes/schedule/Bucket.h joins them.
#pragma once

#include "compiler/planner/choices/Decisions.h"
#include "compiler/planner/network/Costs.h"

namespace cleave::planner {

// Sets OpDecision::buckets. Buckets are numbered in the order of their first members and have at
// least two.
void assignBuckets(Costs &costs, Decisions &decisions);

// The seconds per step that the buckets save, compared with a call per reduction.
double savedByBuckets(Costs &costs, const Decisions &decisions);

} // namespace cleave::planner
