#include "compiler/planner/network/PricedDecisions.h"

#include "compiler/planner/choices/LayoutChanges.h"
#include "compiler/planner/network/Buckets.h"

namespace cleave::planner {

// The seconds of the op's kernels, and of what depends on its producer.
static double secondsOf(const Costs &costs, const Decisions &decisions, const Op &op,
                        const OpChoice &choice) {
  double seconds = costs.kernels(op, choice);
  if (op.dependsOnProducer()) {
    const int maker = costs.model().values[op.operands[0]].producer;
    const OpChoice made = choiceOf(costs.model().ops[maker], decisions.ops[maker]);
    seconds += costs.afterProducer(made, op, choice);
  }
  return seconds;
}

double copySecondsOf(const Costs &costs, const Decisions &decisions) {
  const StepModel &model = costs.model();
  double seconds = 0;
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const OpChoice choice = choiceOf(model.ops[i], decisions.ops[i]);
    for (size_t r = 0; r < choice.results.size(); ++r)
      seconds += costs.away(model.ops[i].results[r], choice.results[r]);
  }
  for (size_t i = 0; i < model.arguments.size(); ++i)
    seconds += costs.away(model.arguments[i].value, decisions.arguments[i].storage);
  return seconds;
}

double secondsOf(Costs &costs, const Decisions &decisions) {
  const StepModel &model = costs.model();
  double seconds = 0;
  for (size_t i = 0; i < model.ops.size(); ++i)
    seconds += secondsOf(costs, decisions, model.ops[i], choiceOf(model.ops[i], decisions.ops[i]));
  for (size_t i = 0; i < model.arguments.size(); ++i)
    seconds += costs.replacement(model.arguments[i], decisions.arguments[i].storage);
  seconds += copySecondsOf(costs, decisions);
  for (const LayoutChange &change : layoutChanges(model, decisions))
    seconds +=
        static_cast<double>(change.times) * costs.reshard(change.value, change.from, change.to);
  return seconds - savedByBuckets(costs, decisions);
}

// The argument that a usage of a node stores, or -1.
static int storedArgument(const PlanProblem &problem, const std::vector<int> &argumentOf,
                          size_t node, size_t usage) {
  if (node < problem.needs.size()) {
    const Need &need = problem.needs[node][usage];
    return need.kind == Need::Kind::Follower ? need.index : -1;
  }
  const int argument = argumentOf[node];
  const bool isStore =
      argument >= 0 && problem.argumentNeeds[argument][usage] == ArgumentNeed::Store;
  return isStore ? argument : -1;
}

std::vector<Holding> holdingsOf(const PlanProblem &problem, const std::vector<int> &choices) {
  std::vector<Holding> holdings;
  std::vector<int> argumentOf(problem.network.nodes.size(), -1);
  for (size_t i = 0; i < problem.argumentNode.size(); ++i)
    if (problem.argumentNode[i] >= 0)
      argumentOf[problem.argumentNode[i]] = static_cast<int>(i);
  for (size_t v = 0; v < problem.network.nodes.size(); ++v) {
    const solver::Node &node = problem.network.nodes[v];
    const bool isOp = v < problem.needs.size();
    for (size_t u = 0; u < node.usages.size(); ++u) {
      const Span span{node.usages[u].begin, node.usages[u].end};
      const int64_t bytes = node.choices[choices[v]].bytes[u];
      const bool isResult = isOp && problem.needs[v][u].kind == Need::Kind::Home;
      if (bytes > 0 && span.begin < span.end)
        holdings.push_back({.name = node.name,
                            .op = isOp ? static_cast<int>(v) : -1,
                            .result = isResult ? problem.needs[v][u].index : -1,
                            .argument = storedArgument(problem, argumentOf, v, u),
                            .span = span,
                            .bytes = bytes});
    }
  }
  return holdings;
}

} // namespace cleave::planner
