// Recomputation by plain loops.
#include "compiler/solver/Check.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace cleave::solver {

double totalCost(const Problem &problem, const std::vector<int> &choices) {
  double sum = 0;
  for (size_t v = 0; v < problem.nodes.size(); ++v)
    sum += problem.nodes[v].choices[choices[v]].cost;
  for (const Edge &edge : problem.edges) {
    size_t columns = problem.nodes[edge.to].choices.size();
    sum += edge.cost[choices[edge.from] * columns + choices[edge.to]];
  }
  return sum;
}

static std::vector<int> liveAt(const Problem &problem, const std::vector<int> &choices, int space,
                               int64_t time) {
  std::vector<std::pair<int64_t, int>> live;
  for (size_t v = 0; v < problem.nodes.size(); ++v) {
    const Node &node = problem.nodes[v];
    int64_t bytes = 0;
    for (size_t u = 0; u < node.usages.size(); ++u)
      if (node.usages[u].space == space && node.usages[u].begin <= time &&
          time < node.usages[u].end)
        bytes += node.choices[choices[v]].bytes[u];
    if (bytes > 0)
      live.push_back({-bytes, static_cast<int>(v)});
  }
  std::sort(live.begin(), live.end());
  std::vector<int> nodes;
  for (auto &[bytes, v] : live)
    nodes.push_back(v);
  return nodes;
}

std::vector<MemoryPeak> memoryPeaks(const Problem &problem, const std::vector<int> &choices) {
  std::vector<MemoryPeak> peaks(problem.spaces.size());
  for (size_t s = 0; s < problem.spaces.size(); ++s) {
    std::map<int64_t, int64_t> change; // time -> bytes allocated or freed
    for (size_t v = 0; v < problem.nodes.size(); ++v) {
      const Node &node = problem.nodes[v];
      for (size_t u = 0; u < node.usages.size(); ++u) {
        if (node.usages[u].space != static_cast<int>(s) ||
            node.usages[u].end <= node.usages[u].begin)
          continue;
        change[node.usages[u].begin] += node.choices[choices[v]].bytes[u];
        change[node.usages[u].end] -= node.choices[choices[v]].bytes[u];
      }
    }
    int64_t inUse = 0;
    for (auto &[time, bytes] : change) {
      inUse += bytes;
      if (inUse > peaks[s].bytes) {
        peaks[s].bytes = inUse;
        peaks[s].time = time;
      }
    }
    peaks[s].liveNodes = liveAt(problem, choices, static_cast<int>(s), peaks[s].time);
  }
  return peaks;
}

// Of nodes without such a choice; the other checks need a choice per node.
static std::vector<std::string> missingChoices(const Problem &problem,
                                               const std::vector<int> &choices) {
  if (choices.size() != problem.nodes.size())
    return {concat("found ", choices.size(), " choices for ", problem.nodes.size(), " nodes")};
  std::vector<std::string> found;
  for (size_t v = 0; v < choices.size(); ++v)
    if (choices[v] < 0 || choices[v] >= static_cast<int>(problem.nodes[v].choices.size()))
      found.push_back(concat("node ", v, " has no choice ", choices[v]));
  return found;
}

static std::string describe(const Problem &problem, int v, int choice) {
  const Node &node = problem.nodes[v];
  const std::string &label = node.choices[choice].label;
  return concat("choice ", choice, label.empty() ? "" : concat(" (", label, ")"), " of node ", v,
                node.name.empty() ? "" : concat(" '", node.name, "'"));
}

std::vector<std::string> violations(const Problem &problem, const std::vector<int> &choices) {
  std::vector<std::string> found = missingChoices(problem, choices);
  if (!found.empty())
    return found;
  for (size_t v = 0; v < choices.size(); ++v)
    if (problem.nodes[v].choices[choices[v]].cost == kForbidden)
      found.push_back(concat("forbidden: ", describe(problem, static_cast<int>(v), choices[v])));
  for (const Edge &edge : problem.edges) {
    const size_t columns = problem.nodes[edge.to].choices.size();
    if (edge.cost[choices[edge.from] * columns + choices[edge.to]] == kForbidden)
      found.push_back(concat("forbidden: ", describe(problem, edge.from, choices[edge.from]),
                             " with ", describe(problem, edge.to, choices[edge.to])));
  }
  std::vector<MemoryPeak> peaks = memoryPeaks(problem, choices);
  for (size_t s = 0; s < peaks.size(); ++s)
    if (peaks[s].bytes > problem.spaces[s].budget)
      found.push_back(concat("memory space '", problem.spaces[s].name, "' holds ", peaks[s].bytes,
                             " bytes at time ", peaks[s].time, ", its budget is ",
                             problem.spaces[s].budget));
  return found;
}

Status checkChoices(const Problem &problem, const std::vector<int> &choices) {
  std::vector<std::string> found = violations(problem, choices);
  return found.empty() ? Status::ok() : Status::defect(found[0]);
}

static bool isClose(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max({std::abs(a), std::abs(b), 1e-30});
}

Status checkSolution(const Problem &problem, const Solution &solution) {
  CLEAVE_TRY(checkChoices(problem, solution.choices));
  double cost = totalCost(problem, solution.choices);
  if (!isClose(cost, solution.cost))
    return Status::defect("stated cost ", solution.cost, ", recomputed ", cost);
  if (solution.lowerBound > cost && !isClose(solution.lowerBound, cost))
    return Status::defect("the lower bound ", solution.lowerBound, " exceeds the cost ", cost);
  double gap = cost == solution.lowerBound ? 0 : (cost - solution.lowerBound) / std::abs(cost);
  if (std::abs(gap - solution.gap) > 1e-9 * (1 + std::abs(gap)))
    return Status::defect("stated gap ", solution.gap, ", recomputed ", gap);
  std::vector<MemoryPeak> peaks = memoryPeaks(problem, solution.choices);
  for (size_t s = 0; s < peaks.size(); ++s)
    if (s >= solution.peaks.size() || peaks[s].bytes != solution.peaks[s].bytes)
      return Status::defect("the stated peak of memory space '", problem.spaces[s].name,
                            "' is not ", peaks[s].bytes, " bytes");
  return Status::ok();
}

} // namespace cleave::solver
