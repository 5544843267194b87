// Elimination of the whole network, without presolve, which would drop choices.
#include "compiler/solver/MinMarginals.h"

#include "compiler/solver/Elimination.h"

#include <algorithm>
#include <cmath>

namespace cleave::solver {

Result<MinMarginals> minMarginals(const Problem &problem, const SolveOptions &options) {
  CLEAVE_TRY(validate(problem));
  Tables tables;
  const Network network = buildNetwork(problem, tables);
  std::unique_ptr<Elimination> elimination = makeElimination(network, options.maxTableEntries);
  if (elimination->isExact() && elimination->marginalsWork() > options.maxWork)
    elimination = std::make_unique<Elimination>(network, options.maxTableEntries);
  MinMarginals result;
  result.isExact = elimination->isExact();
  NodeCosts costs;
  for (const NetworkNode &node : network.nodes)
    costs.push_back(node.cost);
  result.bound = elimination->minimize(costs);
  if (result.bound < kForbidden) {
    result.least = elimination->marginals(false).choices;
    return result;
  }
  for (const NetworkNode &node : network.nodes)
    result.least.emplace_back(node.size(), kForbidden);
  return result;
}

std::vector<std::vector<bool>> keptBelow(const MinMarginals &marginals, double incumbent) {
  const double most = incumbent + 1e-9 * std::abs(incumbent);
  std::vector<std::vector<bool>> kept;
  for (const std::vector<double> &least : marginals.least) {
    kept.emplace_back(least.size());
    for (size_t i = 0; i < least.size(); ++i)
      kept.back()[i] = least[i] <= most && least[i] < kForbidden;
  }
  return kept;
}

} // namespace cleave::solver
