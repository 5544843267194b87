#include "compiler/planner/report/Explain.h"

#include "compiler/planner/model/Products.h"
#include "runtime/base/Fold.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace cleave::planner {

// `rows (a) over dp, columns (c) over tp in a b, b c -> a c; gives [dp, tp]`: of products, what a
// factor counts; of other ops, its letter in the rule.
static std::string opText(const Op &op, const OpChoice &choice, const Mesh &mesh) {
  const std::optional<std::vector<FactorUse>> uses = factorUses(op);
  std::string splits;
  for (size_t f = 0; f < choice.factors.size(); ++f)
    if (!choice.factors[f].empty()) {
      const std::string letter(1, static_cast<char>('a' + f % 26));
      splits += concat(splits.empty() ? "" : ", ",
                       uses ? concat(name((*uses)[f]), " (", letter, ")") : letter, " over ",
                       mesh.axesText(choice.factors[f]));
    }
  if (!choice.partial.empty())
    splits += (splits.empty() ? "" : ", ") + ("sums over " + mesh.axesText(choice.partial));
  std::string text = concat(splits.empty() ? "not split" : splits, " in ", op.rule.str(),
                            choice.isZigzag ? ", in zigzag" : "");
  if (!choice.results.empty())
    text += "; gives " + choice.results[0].str(mesh);
  return text;
}

std::string placeText(const Value &value) {
  if (value.space == Space::Device)
    return "";
  return concat(value.space == Space::Host ? " in host memory, " : " in a file, ", value.awayCopies,
                value.awayCopies == 1 ? " copy per step" : " copies per step");
}

static std::string argumentText(const Value &value, const ArgumentChoice &choice,
                                const Mesh &mesh) {
  std::string text = "lives as " + choice.storage.str(mesh) + placeText(value);
  if (choice.compute != choice.storage)
    text += ", gathered to " + choice.compute.str(mesh) +
            (choice.staysGathered ? " once for the forward and backward pass" : " for use");
  return text;
}

// The bytes that a choice of a node holds at a time point.
static int64_t heldAt(const solver::Node &node, int choice, int64_t time) {
  int64_t bytes = 0;
  for (size_t u = 0; u < node.usages.size(); ++u)
    if (node.usages[u].begin <= time && time < node.usages[u].end)
      bytes += node.choices[choice].bytes[u];
  return bytes;
}

Explainer::Explainer(const StepModel &model, const Mesh &mesh, const PlanProblem &plan,
                     const solver::Solution &solution)
    : model_(model), mesh_(mesh), plan_(plan), choices_(solution.choices),
      edgesOf_(plan.network.nodes.size()) {
  if (!solution.peaks.empty())
    peak_ = solution.peaks[0].time;
  for (size_t e = 0; e < plan.network.edges.size(); ++e) {
    edgesOf_[plan.network.edges[e].from].push_back(static_cast<int>(e));
    edgesOf_[plan.network.edges[e].to].push_back(static_cast<int>(e));
  }
}

// The node's own seconds and those of its edges when it takes this choice.
double Explainer::secondsAt(int node, int choice) const {
  const solver::Problem &problem = plan_.network;
  double seconds = problem.nodes[node].choices[choice].cost;
  for (int e : edgesOf_[node]) {
    const solver::Edge &edge = problem.edges[e];
    int from = edge.from == node ? choice : choices_[edge.from],
        to = edge.to == node ? choice : choices_[edge.to];
    seconds += edge.cost[from * problem.nodes[edge.to].choices.size() + to];
  }
  return seconds;
}

// The best choice of a node apart from the one taken, or -1.
int Explainer::secondBest(int node) const {
  int best = -1;
  double bestSeconds = solver::kForbidden;
  for (int i = 0; i < static_cast<int>(plan_.network.nodes[node].choices.size()); ++i) {
    double seconds = i == choices_[node] ? solver::kForbidden : secondsAt(node, i);
    if (seconds < bestSeconds) {
      best = i;
      bestSeconds = seconds;
    }
  }
  return best;
}

// Why a node has no other choice, all others fixed.
std::string Explainer::whyNone(int node, const PinEffect &pins) const {
  const solver::ChoiceList &choices = plan_.network.nodes[node].choices;
  const auto permitted = std::count_if(choices.begin(), choices.end(), [](const auto &choice) {
    return choice.cost < solver::kForbidden;
  });
  if (permitted > 1)
    return "no other choice is compatible with the decisions around it";
  if (pins.after == 1 && pins.before > 1)
    return "the only choice under the pins";
  return pins.after > 1 ? "every other choice is impossible or never better" : "the only choice";
}

// `text` turns the number of a choice into words.
template <typename Text>
Reason Explainer::reasonFor(const std::string &name, const std::string &kind, int node,
                            const PinEffect &pins, Text text) const {
  int chosen = choices_[node];
  Reason reason{.name = name,
                .kind = kind,
                .choice = text(chosen),
                .seconds = plan_.network.nodes[node].choices[chosen].cost};
  int other = secondBest(node);
  if (other >= 0) {
    reason.alternative = text(other);
    const double seconds = secondsAt(node, chosen), others = secondsAt(node, other);
    constexpr double kRounding = 1e-9;
    if (std::abs(others - seconds) > kRounding * seconds)
      reason.alternativeSeconds = others - seconds;
    const solver::Node &its = plan_.network.nodes[node];
    if (peak_)
      reason.alternativeBytes = heldAt(its, other, *peak_) - heldAt(its, chosen, *peak_);
  } else {
    reason.whyNone = whyNone(node, pins);
  }
  return reason;
}

std::optional<Reason> Explainer::ofArgument(int argument) const {
  int node = plan_.argumentNode[argument];
  if (node < 0)
    return std::nullopt;
  const std::vector<ArgumentChoice> &choices = plan_.argumentChoices[argument];
  return reasonFor(
      model_.arguments[argument].name, std::string(name(model_.arguments[argument].role)), node,
      plan_.argumentPinEffects[argument], [&](int c) {
        return argumentText(model_.values[model_.arguments[argument].value], choices[c], mesh_);
      });
}

Reason Explainer::ofOp(int op) const {
  const std::vector<OpChoice> &choices = plan_.choicesOf(op);
  Reason reason =
      reasonFor(model_.ops[op].name, model_.ops[op].kind, op, plan_.priced[op]->pinEffect,
                [&](int c) { return opText(model_.ops[op], choices[c], mesh_); });
  reason.op = op;
  return reason;
}

std::vector<Reason> explainChoices(const StepModel &model, const Explainer &explainer,
                                   const PlanProblem &plan, const std::vector<int> &choices,
                                   size_t maxKinds) {
  std::vector<Reason> reasons;
  for (size_t i = 0; i < model.arguments.size(); ++i)
    if (model.arguments[i].role == Role::Parameter)
      if (std::optional<Reason> reason = explainer.ofArgument(static_cast<int>(i)))
        reasons.push_back(std::move(*reason));
  // Ops of one kind and choice, by their seconds in all.
  using Alike = std::pair<const PricedOp *, int>;
  std::map<Alike, std::pair<double, std::vector<int>>> ops;
  for (int op = 0; op < static_cast<int>(model.ops.size()); ++op) {
    auto &[seconds, members] = ops[{plan.priced[op].get(), choices[op]}];
    seconds += plan.network.nodes[op].choices[choices[op]].cost;
    members.push_back(op);
  }
  std::vector<std::pair<double, std::vector<int>>> order;
  for (auto &[alike, group] : ops)
    order.push_back(std::move(group));
  std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
    return std::pair(-a.first, a.second) < std::pair(-b.first, b.second);
  });
  order.resize(std::min(order.size(), maxKinds));
  for (const auto &[seconds, members] : order)
    for (int op : members)
      reasons.push_back(explainer.ofOp(op));
  return reasons;
}

std::vector<Holder> holdersAtPeak(const PlanProblem &plan, const solver::Solution &solution,
                                  size_t count) {
  std::vector<Holder> holders;
  if (solution.peaks.empty())
    return holders;
  for (size_t v = 0; v < plan.network.nodes.size(); ++v) {
    int64_t bytes = heldAt(plan.network.nodes[v], solution.choices[v], solution.peaks[0].time);
    if (bytes > 0)
      holders.push_back({plan.network.nodes[v].name, bytes});
  }
  std::stable_sort(holders.begin(), holders.end(),
                   [](const Holder &a, const Holder &b) { return a.bytes > b.bytes; });
  holders.resize(std::min(holders.size(), count));
  return holders;
}

std::string memoryOption(int64_t bytes) {
  return concat("(--memory ", (bytes + 1023) / 1024, "KiB");
}

std::string groupedNames(const std::vector<std::string> &names, size_t most) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups; // by shape
  for (std::string name : names) {
    if (const size_t comma = name.find(", recomputed"); comma != std::string::npos)
      name.erase(comma, 1);
    const std::string shape = nameShape(name);
    auto group = std::ranges::find(groups, shape, [](auto &one) { return one.first; });
    if (group == groups.end())
      group = groups.insert(group, {shape, {}});
    group->second.push_back(name);
  }
  std::string text;
  for (size_t i = 0; i < std::min(groups.size(), most); ++i)
    text += concat(i ? ", " : "", foldedName(groups[i].second));
  return text;
}

std::string refusalText(const Refusal &refusal) {
  return concat(refusal.isProven ? "no plan fits" : "no plan was found that fits", " into ",
                bytesText(refusal.budget), " per rank on ", refusal.ranks,
                refusal.ranks == 1 ? " rank" : " ranks",
                refusal.pins.empty() ? "" : " under the pins of " + refusal.pins,
                ": the smallest found needs ", bytesText(refusal.needed), " ",
                memoryOption(refusal.needed), "), ", bytesText(refusal.needed - refusal.budget),
                " more");
}

std::string refusalText(const PlanReport &plan, int64_t needed, int64_t budget, bool isProven) {
  std::string text = refusalText({.isProven = isProven,
                                  .budget = budget,
                                  .needed = needed,
                                  .ranks = plan.mesh.ranks(),
                                  .pins = plan.pin});
  std::vector<std::string> names;
  for (const Holder &holder : plan.atPeak)
    names.push_back(holder.name);
  if (!names.empty())
    text += "; largest at its peak: " + groupedNames(names);
  if (plan.peakBytes <= budget)
    text += concat("; no more than ", bytesText(static_cast<uint64_t>(plan.peakBytes)),
                   " of it are in use at a time, but its buffers found no places in less");
  return text;
}

std::string explainInfeasible(const PlanProblem &plan, const solver::Solution &solution,
                              int64_t ranks, const std::string &pins, bool isOnlyStep) {
  const solver::Infeasibility &why = solution.infeasibility;
  const bool isProven = isOnlyStep && solution.status == solver::SolveStatus::Infeasible;
  if (why.smallestBudget.empty())
    return concat(isProven ? "no plan exists" : "no plan was found",
                  pins.empty() ? "" : " under the pins of " + pins,
                  ", however much memory there is: ", why.message);
  std::string text = refusalText({.isProven = isProven,
                                  .budget = plan.network.spaces[0].budget,
                                  .needed = why.smallestBudget[0],
                                  .ranks = ranks,
                                  .pins = pins});
  if (isOnlyStep && !isProven && !why.provenBudget.empty())
    text += concat(" (and none needs less than ", bytesText(why.provenBudget[0]), ")");
  if (!why.bindingNodes.empty()) {
    constexpr size_t kLargest = 10;
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(why.bindingNodes.size(), kLargest); ++i)
      names.push_back(plan.network.nodes[size_t(why.bindingNodes[i])].name);
    text += "; largest at that point: " + groupedNames(names);
  }
  return text;
}

} // namespace cleave::planner
