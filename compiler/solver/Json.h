// Json: Problem and Solution as JSON, the form in which a planning question can be kept and sent.
//
//   {"name", "spaces": [{"name", "budget"}],
//    "nodes": [{"name", "usages": [[begin, end, space]…], "choices": [{"label", "cost", "bytes":
//    […]}…]}…], "edges": [{"from", "to", "cost": [row-major]}…]}
//
// Costs are seconds, bytes are integers; null stands for forbidden (infinite).
#pragma once

#include "compiler/solver/Problem.h"
#include "compiler/solver/Solution.h"

namespace cleave::solver {

std::string toJson(const Problem &problem);
std::string toJson(const Solution &solution);

// Reads what toJson wrote, and validates it; the message says where the text is at fault.
Result<Problem> problemFromJson(const std::string &text);
Result<Solution> solutionFromJson(const std::string &text);

} // namespace cleave::solver
