// Random small training steps as plain data, for tests of the planner's numbers.
#pragma once

#include "compiler/planner/model/StepModel.h"

#include <random>

namespace cleave::test {

// A step of `layers` layers, each a product with a parameter, followed by random ops; gradients of
// the parameters by one product each, and updates with one state. Values have up to `dims` dims.
// Some steps have micro-batches. It computes nothing sensible, but has the structure of a step.
planner::StepModel randomStep(int layers, int dims, std::mt19937 &random);

} // namespace cleave::test
