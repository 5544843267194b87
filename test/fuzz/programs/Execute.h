// Execute: runs a plan on ranks that are threads of this process, and compares it with the
// reference step by step.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "test/fuzz/programs/Reference.h"

namespace cleave::fuzz {

// Empty if the losses and metrics of every step, and the parameters, states and outputs after the
// last step are correct on every rank; otherwise the first error.
std::string runPlan(const plan::Plan &plan, const ProgramData &data,
                    const std::vector<StepResults> &expected, int64_t *count);

} // namespace cleave::fuzz
