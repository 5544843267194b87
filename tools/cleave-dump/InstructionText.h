// One instruction of a program in words.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <set>
#include <string>

namespace cleave::dump {

// What it reads and writes: `x f32[8x16], w f32[16x4] -> y f32[8x4]`.
std::string instructionText(const plan::Plan &plan, const plan::Program &program,
                            const plan::Instruction &instruction);

// The indices of all buffers that it touches.
std::set<uint32_t> buffersOf(const plan::Program &program, const plan::Instruction &instruction);

} // namespace cleave::dump
