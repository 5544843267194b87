// Buffers of a step before kernels are formed, and how long they live.
#pragma once

#include "compiler/profile/Profile.h"
#include "compiler/profile/StepPart.h"

namespace cleave::profile {

// The value whose buffer holds `value`: itself, or what it renames. Null where it takes none
// (constants, broadcasts).
mlir::Value bufferOf(mlir::Value value);

// The most bytes that are live at one time. Parameters, states, inputs and constants live always.
std::vector<Peak> peaksOf(mlir::func::FuncOp step);

} // namespace cleave::profile
