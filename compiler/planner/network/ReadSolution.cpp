// Choices of nodes as decisions on ops, arguments, copies and buckets.
#include "compiler/planner/network/ReadSolution.h"

#include "compiler/planner/network/Buckets.h"

namespace cleave::planner {

static ArgumentDecision argumentDecision(const StepModel &model, const PlanProblem &problem,
                                         const std::vector<int> &choices, int argument) {
  if (int node = problem.argumentNode[argument]; node >= 0) {
    const ArgumentChoice &choice = problem.argumentChoices[argument][choices[node]];
    return {choice.storage, choice.compute, choice.staysGathered};
  }
  int reader = model.values[model.arguments[argument].value].uses[0].op;
  Sharding layout = followedLayout(model, argument, problem.choicesOf(reader)[choices[reader]]);
  return {layout, layout, false};
}

Decisions readSolution(Costs &costs, const PlanProblem &problem, const std::vector<int> &choices) {
  const StepModel &model = costs.model();
  Decisions plan;
  plan.mesh = costs.mesh();
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const OpChoice &choice = problem.choicesOf(static_cast<int>(i))[choices[i]];
    plan.ops.push_back({choice.factors, choice.partial, choice.results, {}, choice.isZigzag});
  }
  for (size_t i = 0; i < model.arguments.size(); ++i)
    plan.arguments.push_back(argumentDecision(model, problem, choices, static_cast<int>(i)));
  for (const CopyNode &copy : problem.copies)
    plan.copies.push_back({copy.value, copy.part, copy.layouts[choices[copy.node]]});
  assignBuckets(costs, plan);
  return plan;
}

} // namespace cleave::planner
