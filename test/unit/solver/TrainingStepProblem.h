// A problem with the wiring of a training step, at any size.
#pragma once

#include "compiler/solver/Problem.h"

#include <random>

namespace cleave::solver {

// `layers` blocks of two groups each with a residual link, forward and backward, and per group a
// parameter node tied to the forward, the backward and the update group. Choices are like
// shardings: alike ones cost nothing on an edge, others a transfer. Forward results live until
// their backward group. `budgetShare` of what is used when all take their first choice.
Problem trainingStepProblem(int layers, int choices, double budgetShare, unsigned seed);

} // namespace cleave::solver
