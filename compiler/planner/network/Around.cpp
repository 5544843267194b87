// Finds the ops of the one step in the other one: they stand in the same order.
#include "compiler/planner/network/Around.h"

#include <algorithm>

namespace cleave::planner {

// Forbids the choices for which `isKept` does not hold, unless it holds for none.
template <typename IsKept> static void keepOnly(solver::Node &node, size_t listed, IsKept isKept) {
  std::vector<bool> kept(node.choices.size(), false);
  for (size_t c = 0; c < listed; ++c)
    kept[c] = isKept(c);
  if (std::find(kept.begin(), kept.end(), true) == kept.end())
    return;
  for (size_t c = 0; c < kept.size(); ++c)
    if (!kept[c])
      node.choices.forbid(c);
}

void keepAround(PlanProblem &problem, const StepModel &model, const StepModel &before,
                const Decisions &around) {
  size_t old = 0;
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const Op &op = model.ops[i];
    auto isSame = [&](const Op &other) { return other.name == op.name && other.kind == op.kind; };
    size_t found = old;
    while (!op.isRecomputed && found < before.ops.size() && !isSame(before.ops[found]))
      ++found;
    if (op.isRecomputed || found == before.ops.size())
      continue;
    old = found + 1;
    const OpDecision &decision = around.ops[found];
    const std::vector<OpChoice> &choices = problem.choicesOf(static_cast<int>(i));
    keepOnly(problem.network.nodes[i], choices.size(), [&](size_t c) {
      return choices[c].factors == decision.factors && choices[c].partial == decision.partial &&
             choices[c].results == decision.results;
    });
  }
  for (size_t i = 0; i < model.arguments.size(); ++i) {
    if (problem.argumentNode[i] < 0)
      continue;
    const std::vector<ArgumentChoice> &choices = problem.argumentChoices[i];
    const ArgumentDecision &decision = around.arguments[i];
    keepOnly(problem.network.nodes[problem.argumentNode[i]], choices.size(), [&](size_t c) {
      return choices[c].storage == decision.storage && choices[c].compute == decision.compute &&
             choices[c].staysGathered == decision.staysGathered;
    });
  }
}

} // namespace cleave::planner
