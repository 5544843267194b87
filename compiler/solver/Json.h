// Json: the JSON form of Problem and Solution, the input and output of cleave-solve.
//
//   {"name", "spaces": [{"name", "budget"}],
//    "nodes": [{"name", "usages": [[begin, end, space]…],
//               "choices": [{"label", "cost", "bytes": […]}…]}…],
//    "edges": [{"from", "to", "cost": [row-major]}…]}
//
// Costs are seconds, bytes are integers; null stands for kForbidden.
#pragma once

#include "compiler/solver/Problem.h"
#include "compiler/solver/Solution.h"

namespace cleave::solver {

// The JSON text.
std::string toJson(const Problem &problem);
std::string toJson(const Solution &solution);

// Reads the output of toJson and validates it. A user error names the place in the text.
Result<Problem> problemFromJson(const std::string &text);

// The choices of a solution: from the output of toJson, or from a list of numbers, one per node. A
// user error if it is neither.
Result<std::vector<int>> choicesFromJson(const std::string &text);

} // namespace cleave::solver
