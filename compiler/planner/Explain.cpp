#include "compiler/planner/Explain.h"

#include "runtime/base/Units.h"

#include <algorithm>
#include <numeric>

namespace cleave::planner {

static std::string axesText(const std::vector<int> &axes, const Mesh &mesh) {
  std::string text;
  for (int axis : axes)
    text += (text.empty() ? "" : "+") + mesh.axes[axis].name;
  return text;
}

// `a b, b c -> a c: a by dp, b by tp; result [dp, _]`
static std::string opText(const Op &op, const OpChoice &choice, const Mesh &mesh) {
  std::string splits;
  for (size_t f = 0; f < choice.factors.size(); ++f)
    if (!choice.factors[f].empty())
      splits += (splits.empty() ? "" : ", ") + std::string(1, static_cast<char>('a' + f % 26)) +
                " by " + axesText(choice.factors[f], mesh);
  if (!choice.partial.empty())
    splits += (splits.empty() ? "" : ", ") + ("sums by " + axesText(choice.partial, mesh));
  std::string text = op.rule.str() + ": " + (splits.empty() ? "not split" : splits);
  if (!choice.results.empty())
    text += "; gives " + choice.results[0].str(mesh);
  return text;
}

static std::string argumentText(const ArgumentChoice &choice, const Mesh &mesh) {
  std::string text = "lives as " + choice.storage.str(mesh);
  if (choice.compute != choice.storage)
    text += ", gathered to " + choice.compute.str(mesh) + " for use";
  return text;
}

namespace {

// The problem's edges by node, to price the change of one choice.
class Prices {
public:
  Prices(const solver::Problem &problem, const std::vector<int> &choices)
      : problem_(problem), choices_(choices), edgesOf_(problem.nodes.size()) {
    for (size_t e = 0; e < problem.edges.size(); ++e) {
      edgesOf_[problem.edges[e].from].push_back(static_cast<int>(e));
      edgesOf_[problem.edges[e].to].push_back(static_cast<int>(e));
    }
  }

  // The node's own seconds and those of its edges when it takes choice i.
  double at(int node, int i) const {
    double seconds = problem_.nodes[node].choices[i].cost;
    for (int e : edgesOf_[node]) {
      const solver::Edge &edge = problem_.edges[e];
      int from = edge.from == node ? i : choices_[edge.from],
          to = edge.to == node ? i : choices_[edge.to];
      seconds += edge.cost[from * problem_.nodes[edge.to].choices.size() + to];
    }
    return seconds;
  }

  // The best other choice, or -1.
  int secondBest(int node) const {
    int best = -1;
    double bestSeconds = solver::forbidden;
    for (int i = 0; i < static_cast<int>(problem_.nodes[node].choices.size()); ++i) {
      double seconds = i == choices_[node] ? solver::forbidden : at(node, i);
      if (seconds < bestSeconds) {
        best = i;
        bestSeconds = seconds;
      }
    }
    return best;
  }

private:
  const solver::Problem &problem_;
  const std::vector<int> &choices_;
  std::vector<std::vector<int>> edgesOf_;
};

} // namespace

template <typename Text>
static Reason reasonFor(const std::string &name, const std::string &kind, int node,
                        const Prices &prices, const PlanProblem &plan,
                        const std::vector<int> &choices, Text text) {
  Reason reason{
      name, kind, text(choices[node]), plan.problem.nodes[node].choices[choices[node]].cost, "", 0};
  int other = prices.secondBest(node);
  if (other >= 0) {
    reason.alternative = text(other);
    reason.alternativeSeconds = prices.at(node, other) - prices.at(node, choices[node]);
  }
  return reason;
}

std::vector<Reason> explainChoices(const StepModel &model, const Mesh &mesh,
                                   const PlanProblem &plan, const std::vector<int> &choices,
                                   size_t maxOps) {
  Prices prices(plan.problem, choices);
  std::vector<Reason> reasons;
  for (size_t i = 0; i < model.arguments.size(); ++i) {
    int node = plan.argumentNode[i];
    if (node >= 0 && model.arguments[i].role == "parameter")
      reasons.push_back(
          reasonFor(model.arguments[i].name, "parameter", node, prices, plan, choices,
                    [&](int c) { return argumentText(plan.argumentChoices[i][c], mesh); }));
  }
  std::vector<int> order(model.ops.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return plan.problem.nodes[a].choices[choices[a]].cost >
           plan.problem.nodes[b].choices[choices[b]].cost;
  });
  order.resize(std::min(order.size(), maxOps));
  for (int op : order)
    reasons.push_back(
        reasonFor(model.ops[op].name, model.ops[op].kind, op, prices, plan, choices,
                  [&](int c) { return opText(model.ops[op], plan.choicesOf(op)[c], mesh); }));
  return reasons;
}

// What a node's choice holds at a time point.
static int64_t heldAt(const solver::Node &node, int choice, int64_t time) {
  int64_t bytes = 0;
  for (size_t u = 0; u < node.usages.size(); ++u)
    if (node.usages[u].begin <= time && time < node.usages[u].end)
      bytes += node.choices[choice].bytes[u];
  return bytes;
}

std::vector<Holder> holdersAtPeak(const PlanProblem &plan, const solver::Solution &solution,
                                  size_t count) {
  std::vector<Holder> holders;
  if (solution.peaks.empty())
    return holders;
  for (size_t v = 0; v < plan.problem.nodes.size(); ++v) {
    int64_t bytes = heldAt(plan.problem.nodes[v], solution.choices[v], solution.peaks[0].time);
    if (bytes > 0)
      holders.push_back({plan.problem.nodes[v].name, bytes});
  }
  std::stable_sort(holders.begin(), holders.end(),
                   [](const Holder &a, const Holder &b) { return a.bytes > b.bytes; });
  holders.resize(std::min(holders.size(), count));
  return holders;
}

std::string explainInfeasible(const PlanProblem &plan, const solver::Solution &solution,
                              int64_t ranks, const std::string &pins) {
  const solver::Infeasibility &why = solution.infeasibility;
  const std::string under = pins.empty() ? "" : " under the pins of " + pins;
  if (why.smallestBudget.empty())
    return "no plan exists" + under + ", however much memory there is: " + why.message;
  int64_t budget = plan.problem.spaces[0].budget, needed = why.smallestBudget[0];
  bool isProven = solution.status == solver::SolveStatus::Infeasible;
  std::string text = std::string(isProven ? "no plan fits" : "no plan was found that fits") +
                     " into " + bytesText(budget) + " per rank on " + std::to_string(ranks) +
                     (ranks == 1 ? " rank" : " ranks") + under + ": the smallest found needs " +
                     bytesText(needed) + ", " + bytesText(needed - budget) + " more";
  if (!isProven && !why.provenBudget.empty())
    text += " (and none needs less than " + bytesText(why.provenBudget[0]) + ")";
  if (!why.bindingNodes.empty()) {
    text += "; largest at that point:";
    for (size_t i = 0; i < std::min<size_t>(why.bindingNodes.size(), 4); ++i)
      text += (i ? ", " : " ") + plan.problem.nodes[why.bindingNodes[i]].name;
  }
  return text + "; ways out: --memory " + std::to_string((needed + (1 << 20) - 1) >> 20) + "MiB, " +
         (pins.empty() ? "" : "other pins or none, ") +
         "more ranks, a smaller batch, or the same batch in more micro-batches";
}

} // namespace cleave::planner
