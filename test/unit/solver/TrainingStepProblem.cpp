#include "test/unit/solver/TrainingStepProblem.h"

#include "compiler/solver/Check.h"

namespace cleave::solver {

namespace {

class Builder {
public:
  Builder(int choices, unsigned seed) : choices_(choices), random_(seed) {}

  int addNode(const std::string &name, double seconds, int64_t bytes, int64_t begin, int64_t end) {
    Node node{name, {{begin, end, 0}}, {}};
    for (int i = 0; i < choices_; ++i) {
      // The choice splits time and bytes over more or fewer ranks, with some inefficiency.
      const int saving = (i / 2) % 4;
      double ways = 1 << (i % 4);
      double cost = seconds / ways * (1 + 0.3 * uniform()) + 2e-5 * saving;
      int64_t share = static_cast<int64_t>(static_cast<double>(bytes) / (1 << saving));
      node.choices.push_back({"s" + std::to_string(i), cost, {share}});
    }
    problem_.nodes.push_back(std::move(node));
    return static_cast<int>(problem_.nodes.size()) - 1;
  }

  void addEdge(int from, int to, double seconds) {
    std::vector<double> cost;
    for (int i = 0; i < choices_; ++i)
      for (int j = 0; j < choices_; ++j)
        cost.push_back(i == j ? 0 : (i + j) % 11 == 7 ? kForbidden : seconds * (0.2 + uniform()));
    problem_.edges.push_back({from, to, std::move(cost)});
  }

  Problem take() { return std::move(problem_); }
  double uniform() { return static_cast<double>(random_() % 1000) / 1000; }

private:
  int choices_;
  std::mt19937 random_;
  Problem problem_;
};

} // namespace

Problem trainingStepProblem(int layers, int choices, double budgetShare, unsigned seed) {
  Builder builder(choices, seed);
  const int groups = 2 * layers;
  const int64_t last = 2 * groups + 1; // forward at g, backward at last - 1 - g, update after all
  std::vector<int> forward, backward;
  for (int g = 0; g < groups; ++g)
    forward.push_back(builder.addNode("forward" + std::to_string(g), 1e-3 * (1 + builder.uniform()),
                                      1 << 20, g, last - g));
  for (int g = 0; g < groups; ++g)
    backward.push_back(
        builder.addNode("backward" + std::to_string(g), 2e-3, 1 << 20, last - 1 - g, last + 1 - g));
  for (int g = 0; g < groups; ++g) {
    if (g > 0) {
      builder.addEdge(forward[g - 1], forward[g], 1e-4);
      builder.addEdge(backward[g], backward[g - 1], 1e-4);
    }
    if (g > 1 && g % 2 == 0) {
      builder.addEdge(forward[g - 2], forward[g], 1e-4);
      builder.addEdge(backward[g], backward[g - 2], 1e-4);
    }
    builder.addEdge(forward[g], backward[g], 1e-4);
    int parameter = builder.addNode("parameter" + std::to_string(g), 0, 1 << 21, 0, last + 2);
    int update = builder.addNode("update" + std::to_string(g), 1e-4, 1 << 19, 0, last + 2);
    builder.addEdge(parameter, forward[g], 3e-4);
    builder.addEdge(parameter, backward[g], 3e-4);
    builder.addEdge(backward[g], update, 3e-4);
    builder.addEdge(update, parameter, 3e-4);
  }
  Problem problem = builder.take();
  problem.name = "training step";
  problem.spaces.push_back({"device", 0});
  std::vector<int> firsts(problem.nodes.size(), 0);
  problem.spaces[0].budget = static_cast<int64_t>(
      budgetShare * static_cast<double>(memoryPeaks(problem, firsts)[0].bytes));
  return problem;
}

} // namespace cleave::solver
