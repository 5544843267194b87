// Networks that are small enough to enumerate, and what enumeration says about them: the oracle of
// the tests of the solver's parts.
#pragma once

#include "compiler/solver/Elimination.h"
#include "compiler/solver/Network.h"
#include "test/unit/solver/RandomProblem.h"

#include <functional>

namespace cleave::solver {

// The network of a problem, with its rows reduced.
Network networkOf(const Problem &problem);

// A network that has permitted choices; no edge alone excludes a choice, as after presolve.
Network randomNetwork(const RandomShape &shape, std::mt19937 &random);

// The costs of the network's nodes.
NodeCosts costsOf(const Network &network);

// Calls visit(choices) for every combination of choices.
void forAllChoices(const Network &network,
                   const std::function<void(const std::vector<int> &)> &visit);

// Whether the choices stay within the budgets of all rows.
bool fitsRows(const Network &network, const std::vector<int> &choices);

// The least cost of all combinations that satisfy `isWanted`; kForbidden if there is none.
double leastCost(const Network &network,
                 const std::function<bool(const std::vector<int> &)> &isWanted);

// The least cost of all combinations within the budgets, and of all whatever they need.
double leastWithin(const Network &network);
double leastWithoutRows(const Network &network);

// Two choices that agree: nothing on the diagonal, `seconds` elsewhere.
CostTable agreement(size_t choices, double seconds);

// Adds an edge to a network that is made by hand.
void join(Network &network, int from, int to, CostTable cost);

} // namespace cleave::solver
