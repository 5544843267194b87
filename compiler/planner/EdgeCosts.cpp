// Seconds between choices follow from those between layouts.
#include "compiler/planner/EdgeCosts.h"

namespace cleave::planner {

solver::CostTable EdgeCosts::between(int value, const LayoutSet &made, const LayoutSet &wanted,
                                     double times) {
  const Value &plain = costs_.model().values[value];
  auto [entry, isNew] = tables_.try_emplace(
      {plain.shape, byteSize(plain.element), sets_.of(made), sets_.of(wanted), times});
  if (isNew)
    entry->second = price(value, made, wanted, times);
  return entry->second;
}

solver::CostTable EdgeCosts::price(int value, const LayoutSet &made, const LayoutSet &wanted,
                                   double times) {
  const std::vector<std::vector<int>> sources = made.alternatives(),
                                      targets = wanted.alternatives();
  std::vector<double> seconds;
  bool isFree = true;
  for (const std::vector<int> &a : sources)
    for (const std::vector<int> &b : targets) {
      seconds.push_back(times * costs_.leastReshard(value, a, b));
      isFree &= seconds.back() == 0;
    }
  if (isFree)
    return {};
  std::vector<double> ofChoices;
  ofChoices.reserve(made.ofChoice.size() * wanted.ofChoice.size());
  for (int a : made.ofChoice)
    for (int b : wanted.ofChoice)
      ofChoices.push_back(seconds[a * targets.size() + b]);
  return ofChoices;
}

} // namespace cleave::planner
