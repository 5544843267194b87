// The training step of a perceptron with two weights, of any size, for the planner's tests.
#pragma once

#include "compiler/planner/search/Planner.h"

#include <string>

namespace cleave::test {

// The IR: input batch x in, weights in x hidden and hidden x in, adam on both.
std::string trainingStep(int64_t batch, int64_t in, int64_t hidden, int64_t microBatches = 1);
// The same as read by the planner.
planner::StepModel trainingModel(int64_t batch, int64_t in, int64_t hidden,
                                 int64_t microBatches = 1);

// The cluster `h100-node` with fixed prices: how plans are found does not depend on those of the
// preset, which follow measurements.
const cluster::Cluster &h100Node();

// The plan of a step on so many of its devices under pins; the test fails if there is none.
planner::PlanReport plannedBy(const planner::StepModel &model, const std::string &pins,
                              int64_t ranks);

} // namespace cleave::test
