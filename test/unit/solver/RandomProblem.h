// Random problems and their exhaustive solution, for the solver's tests.
#pragma once

#include "compiler/solver/Problem.h"

#include <random>

namespace cleave::solver {

struct RandomShape {
  int nodes = 6;
  int maxChoices = 4;
  double edgesPerNode = 1.5;
  double forbiddenShare = 0.1;
  int spaces = 1;
  int maxUsages = 2;        // of a node
  double budgetShare = 0.5; // of the sum of the largest choices
  bool isInteger = true;    // integer costs make ties likely
};

// Nodes in a chain with random further edges.
Problem randomProblem(const RandomShape &shape, std::mt19937 &random);

// The least cost of all combinations that fit; `kForbidden` if there is none.
double bruteForce(const Problem &problem);

} // namespace cleave::solver
