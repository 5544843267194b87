// Execute: a plan on ranks that are threads of this process, compared step by step with what it has to compute.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "test/fuzz/programs/Reference.h"

namespace cleave::fuzz {

// Empty if losses and metrics of every step, and parameters, states and outputs after the last one are right on every rank.
std::string runPlan(const plan::Plan &plan, const ProgramData &data,
                    const std::vector<StepResults> &expected, int64_t *count);

} // namespace cleave::fuzz
