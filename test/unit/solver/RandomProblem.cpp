#include "test/unit/solver/RandomProblem.h"

#include "compiler/solver/Check.h"

#include <algorithm>
#include <numeric>

namespace cleave::solver {

static double randomCost(const RandomShape &shape, std::mt19937 &random) {
  return shape.isInteger ? static_cast<double>(random() % 20)
                         : static_cast<double>(random() % 100000) * 1e-7;
}

static Node randomNode(const RandomShape &shape, int v, std::mt19937 &random) {
  Node node;
  node.name = "n" + std::to_string(v);
  const int usages = static_cast<int>(random() % (shape.maxUsages + 1));
  for (int u = 0; u < usages; ++u) {
    int64_t begin = static_cast<int64_t>(random() % shape.nodes);
    node.usages.push_back({begin, begin + static_cast<int64_t>(random() % shape.nodes),
                           static_cast<int>(random() % std::max(1, shape.spaces))});
  }
  const int choices = 1 + static_cast<int>(random() % shape.maxChoices);
  for (int i = 0; i < choices; ++i) {
    Choice choice{"c" + std::to_string(i), randomCost(shape, random), {}};
    for (int u = 0; u < usages; ++u)
      choice.bytes.push_back(static_cast<int64_t>(random() % 10));
    node.choices.push_back(std::move(choice));
  }
  return node;
}

Problem randomProblem(const RandomShape &shape, std::mt19937 &random) {
  Problem problem;
  for (int v = 0; v < shape.nodes; ++v)
    problem.nodes.push_back(randomNode(shape, v, random));
  const int edges = static_cast<int>(shape.edgesPerNode * shape.nodes);
  for (int e = 0; e < edges; ++e) {
    Edge edge;
    edge.from = e + 1 < shape.nodes ? e : static_cast<int>(random() % shape.nodes);
    edge.to = e + 1 < shape.nodes ? e + 1 : static_cast<int>(random() % shape.nodes);
    if (edge.from == edge.to)
      continue;
    size_t size = problem.nodes[edge.from].choices.size() * problem.nodes[edge.to].choices.size();
    std::vector<double> cost;
    for (size_t k = 0; k < size; ++k)
      cost.push_back(static_cast<double>(random() % 1000) < 1000 * shape.forbiddenShare
                         ? kForbidden
                         : randomCost(shape, random));
    edge.cost = std::move(cost);
    problem.edges.push_back(std::move(edge));
  }
  for (int s = 0; s < shape.spaces; ++s) {
    int64_t most = 0;
    for (const Node &node : problem.nodes)
      for (size_t u = 0; u < node.usages.size(); ++u)
        if (node.usages[u].space == s && node.usages[u].begin < node.usages[u].end)
          most += 9;
    problem.spaces.push_back({"space" + std::to_string(s),
                              static_cast<int64_t>(static_cast<double>(most) * shape.budgetShare)});
  }
  return problem;
}

double bruteForce(const Problem &problem) {
  std::vector<int> choices(problem.nodes.size(), 0);
  double best = kForbidden;
  while (true) {
    double cost = totalCost(problem, choices);
    if (cost < best && checkChoices(problem, choices))
      best = cost;
    size_t v = 0;
    while (v < choices.size() && ++choices[v] == static_cast<int>(problem.nodes[v].choices.size()))
      choices[v++] = 0;
    if (v == choices.size())
      return best;
  }
}

} // namespace cleave::solver
