// A problem with the structure of a training step, at any size.
#pragma once

#include "compiler/solver/Problem.h"

#include <random>

namespace cleave::solver {

// `layers` blocks of two groups each with a residual link, forward and backward, and per group a
// parameter node connected to the forward, the backward and the update group. Choices are like
// shardings: equal ones cost nothing on an edge, different ones a transfer. Forward results live
// until their backward group. `budgetShare`: the budget as a share of the memory used if all nodes
// take their first choice.
Problem trainingStepProblem(int layers, int choices, double budgetShare, unsigned seed);

} // namespace cleave::solver
