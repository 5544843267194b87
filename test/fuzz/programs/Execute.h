// Execute: runs a plan on ranks that are threads of this process, and compares it with the
// reference step by step.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/device/Device.h"
#include "test/fuzz/programs/Reference.h"

#include <functional>

namespace cleave::fuzz {

using MakeDevice = std::function<std::unique_ptr<device::Device>()>;

// Empty if the losses and metrics of every step, and the parameters, states and outputs after the
// last step are correct on every rank; otherwise the first error. Each rank, a thread, makes its
// device; this process addresses the memory of all of them.
std::string runPlan(const plan::Plan &plan, const MakeDevice &makeDevice, const ProgramData &data,
                    const std::vector<StepResults> &expected, int64_t *count);

} // namespace cleave::fuzz
