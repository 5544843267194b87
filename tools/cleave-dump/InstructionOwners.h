// InstructionOwners: the parameters that each instruction of a program works for.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <vector>

namespace cleave::dump {

// Indices of tensors with the role PARAMETER, ascending.
using Owners = std::vector<int>;

// The parameters of each part of an instruction (InstructionParts.h), by position in the program:
// those that the part accesses directly, as gathered copies or as states. A part without such
// accesses has the parameters of the next instruction that reads its results; it has none if no
// such instruction follows.
std::vector<std::vector<Owners>> partOwners(const plan::Plan &plan, const plan::Program &program);

// The parameters of all parts of each instruction, by position in the program.
std::vector<Owners> instructionOwners(const plan::Plan &plan, const plan::Program &program);

} // namespace cleave::dump
