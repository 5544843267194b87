// InstructionOwners: the parameters that each instruction of a program works for.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <vector>

namespace cleave::dump {

// Indices of tensors with the role PARAMETER, ascending.
using Owners = std::vector<int>;

// By position in the program, and part of the instruction (InstructionParts.h): the parameters that
// the part accesses, or whose gathered copies or states it accesses; if there are none, those of
// the next instruction that reads its results. Empty if there is none.
std::vector<std::vector<Owners>> partOwners(const plan::Plan &plan, const plan::Program &program);

// By position in the program: those of all parts.
std::vector<Owners> instructionOwners(const plan::Plan &plan, const plan::Program &program);

} // namespace cleave::dump
