// InstructionParts: what an instruction does at once for values that do not depend on each other.
#pragma once

#include "runtime/artifact/Access.h"

#include <vector>

namespace cleave::dump {

// The accesses of each part: of a collective, one for each tensor that it moves; of a launch that
// several instances of a kernel share, one for each instance; of any other instruction, one.
std::vector<std::vector<artifact::Access>> partsOf(const plan::Program &program,
                                                   const plan::Instruction &instruction);

} // namespace cleave::dump
