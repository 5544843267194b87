// Explain: decisions of the solver in words: why each choice was made, and why nothing fits.
#pragma once

#include "compiler/planner/network/PlanProblem.h"
#include "compiler/planner/report/PlanReport.h"
#include "compiler/solver/Solution.h"

namespace cleave::planner {

// ` in host memory, 2 copies per step`, of a value that is kept there; of others empty.
std::string placeText(const Value &value);

// Explains single decisions of a solved network: the choice, its seconds, and the next best choice
// (memory aside, all other decisions fixed) or why there is none. Keeps references to its
// arguments.
class Explainer {
public:
  Explainer(const StepModel &model, const Mesh &mesh, const PlanProblem &plan,
            const solver::Solution &solution);

  // The decision about an argument; empty if the argument has no node.
  std::optional<Reason> ofArgument(int argument) const;
  // The decision about an op.
  Reason ofOp(int op) const;

private:
  double secondsAt(int node, int choice) const;
  int secondBest(int node) const;
  std::string whyNone(int node, const PinEffect &pins) const;
  template <typename Text>
  Reason reasonFor(const std::string &name, const std::string &kind, int node,
                   const PinEffect &pins, Text text) const;

  const StepModel &model_;
  const Mesh &mesh_;
  const PlanProblem &plan_;
  const std::vector<int> &choices_;
  std::optional<int64_t> peak_;           // the first instant of it; nothing: no memory
  std::vector<std::vector<int>> edgesOf_; // per node its edges in the problem
};

// One entry per parameter, then the ops of the `maxKinds` kinds and choices that cost most, all
// layers together.
std::vector<Reason> explainChoices(const StepModel &model, const Explainer &explainer,
                                   const PlanProblem &plan, const std::vector<int> &choices,
                                   size_t maxKinds);

// The nodes that hold memory at the peak, largest first, at most `count`.
std::vector<Holder> holdersAtPeak(const PlanProblem &plan, const solver::Solution &solution,
                                  size_t count);

// `embedding, linear_{0-3}, linear_{4,5} recomputed`: the first `most` groups of ops whose names
// differ in numbers only, in the order of their first ops.
std::string groupedNames(const std::vector<std::string> &names, size_t most = 4);

// A budget within which there is no plan, or none was found.
struct Refusal {
  bool isProven = false;
  int64_t budget = 0, needed = 0; // bytes of one rank: given, and of the smallest program found
  int64_t ranks = 1;
  std::string pins; // Pins::name() of the pins that restrict the plan; empty if there are none
};
std::string refusalText(const Refusal &refusal);
// The message that no plan was found in `budget` bytes of one rank, or that none fits, while `plan`
// was found in `needed`.
std::string refusalText(const PlanReport &plan, int64_t needed, int64_t budget,
                        bool isProven = false);

// `(--memory 512KiB`: how a message names an amount that is needed.
std::string memoryOption(int64_t bytes);

// The message for a step that does not fit: missing bytes, smallest budget, largest nodes.
// `pins`: Pins::name() of the pins that restrict the plan; empty if there are none. What the solver
// proves is told only if this is the only step: with another policy a plan may fit.
std::string explainInfeasible(const PlanProblem &plan, const solver::Solution &solution,
                              int64_t ranks, const std::string &pins, bool isOnlyStep);

} // namespace cleave::planner
