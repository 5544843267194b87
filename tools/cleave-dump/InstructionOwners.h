// InstructionOwners: the parameters that each instruction of a program works for.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <vector>

namespace cleave::dump {

// By position in the program: indices of tensors with the role PARAMETER, ascending. These are the
// parameters that the instruction accesses, or whose gathered copies or states it accesses; if
// there are none, those of the next instruction that reads its results. Empty if there is none.
std::vector<std::vector<int>> instructionOwners(const plan::Plan &plan,
                                                const plan::Program &program);

} // namespace cleave::dump
