// One instruction of a program as text.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <set>
#include <string>

namespace cleave::dump {

// Operands and results: `x f32[8x16], w f32[16x4] -> y f32[8x4]`.
std::string instructionText(const plan::Plan &plan, const plan::Program &program,
                            const plan::Instruction &instruction);

// Indices of all buffers that the instruction reads or writes.
std::set<uint32_t> buffersOf(const plan::Program &program, const plan::Instruction &instruction);

// The row of a timeline: 0 computes, 1 communicates, 2 moves data in or out.
int laneOf(const plan::Instruction &instruction);

} // namespace cleave::dump
