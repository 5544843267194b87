// PlanOfIr: what the IR behind the planner says of the plan, for cleave-dump.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <string>

namespace cleave::driver {

// A plan without programs and kernels: mesh, tensors with their layouts (of IR with a step), the
// planner's decisions, its part of the prediction, and remarks. A user error if the file is no IR,
// or of a phase before the planner.
Result<plan::Plan> planOfIr(const std::string &path);

} // namespace cleave::driver
