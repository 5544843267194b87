// Validation of a Problem.
#include "compiler/solver/Problem.h"

#include <cmath>
#include <set>

namespace cleave::solver {

static std::string nodeName(const Problem &problem, size_t v) {
  const std::string &name = problem.nodes[v].name;
  return name.empty() ? concat("node ", v) : concat("node ", v, " ('", name, "')");
}

static bool isCost(double cost) { return !std::isnan(cost) && cost != -kForbidden; }

static Status validateNode(const Problem &problem, size_t v) {
  const Node &node = problem.nodes[v];
  if (node.choices.empty())
    return Status::userError(nodeName(problem, v), " has no choices, expected at least one");
  for (const Usage &usage : node.usages)
    if (usage.space < 0 || usage.space >= static_cast<int>(problem.spaces.size()))
      return Status::userError(nodeName(problem, v), " uses memory space ", usage.space,
                               ", but there are ", problem.spaces.size());
  for (size_t i = 0; i < node.choices.size(); ++i) {
    const Choice &choice = node.choices[i];
    auto where = [&] { return concat(nodeName(problem, v), ", choice ", i); };
    if (!isCost(choice.cost))
      return Status::userError(where(), " has a cost that is no number or -infinity");
    if (choice.bytes.size() != node.usages.size())
      return Status::userError(where(), " states bytes for ", choice.bytes.size(),
                               " intervals, expected ", node.usages.size());
    for (int64_t bytes : choice.bytes)
      if (bytes < 0)
        return Status::userError(where(), " takes ", bytes, " bytes, expected a number >= 0");
  }
  return Status::ok();
}

// `valid`: the tables found to have valid entries so far.
static Status validateEdge(const Problem &problem, size_t e, std::set<const void *> &valid) {
  const Edge &edge = problem.edges[e];
  const int count = static_cast<int>(problem.nodes.size());
  auto where = [&] { return concat("edge ", e); };
  if (edge.from < 0 || edge.from >= count || edge.to < 0 || edge.to >= count)
    return Status::userError(where(), " joins nodes ", edge.from, " and ", edge.to,
                             ", but there are ", count);
  if (edge.from == edge.to)
    return Status::userError(where(), " joins ", nodeName(problem, edge.from),
                             " with itself; add its cost to the choices instead");
  size_t expected = problem.nodes[edge.from].choices.size() * problem.nodes[edge.to].choices.size();
  if (edge.cost.size() != expected)
    return Status::userError(where(), " has ", edge.cost.size(), " costs, expected ", expected,
                             " (choices of one times choices of the other)");
  if (!valid.insert(edge.cost.identity()).second)
    return Status::ok();
  for (double cost : edge.cost)
    if (!isCost(cost))
      return Status::userError(where(), " has a cost that is no number or -infinity");
  return Status::ok();
}

Status validate(const Problem &problem) {
  for (size_t s = 0; s < problem.spaces.size(); ++s)
    if (problem.spaces[s].budget < 0)
      return Status::userError("memory space '", problem.spaces[s].name, "' has a negative budget");
  for (size_t v = 0; v < problem.nodes.size(); ++v)
    CLEAVE_TRY(validateNode(problem, v));
  std::set<const void *> valid;
  for (size_t e = 0; e < problem.edges.size(); ++e)
    CLEAVE_TRY(validateEdge(problem, e, valid));
  return Status::ok();
}

} // namespace cleave::solver
