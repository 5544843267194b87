// The programs of a plan by the ranks that run them (program.proto, Program).
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstdint>
#include <vector>

namespace cleave::artifact {

// The program of this kind that the rank runs; null if there is none.
const plan::Program *findProgram(const plan::Plan &plan, plan::Program::Kind kind, uint32_t rank);

// The step of the rank. Requires a plan of correct structure (Verify.h), in which each rank has
// one.
const plan::Program &stepOf(const plan::Plan &plan, uint32_t rank);

// Whether the ranks run evaluations, too.
bool hasEvaluation(const plan::Plan &plan);

// The arenas of the rank: each as large as the largest one among its programs.
std::vector<plan::Arena> arenasOf(const plan::Plan &plan, uint32_t rank);

// The lowest rank whose step stores the block of this tensor that the step of `rank` stores: of
// equal blocks, the one that checkpoints hold.
uint32_t firstWithBlock(const plan::Plan &plan, uint32_t tensor, uint32_t rank);

// Gives the program to the ranks [0, count).
void setRanks(plan::Program &program, uint32_t count);

} // namespace cleave::artifact
