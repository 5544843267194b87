// Seconds between choices follow from those between layouts.
#include "compiler/planner/network/EdgeCosts.h"

#include <algorithm>

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

solver::CostTable EdgeCosts::homes(const LayoutSet &made, const LayoutSet &read,
                                   const std::vector<bool> &isHome) {
  if (std::find(isHome.begin(), isHome.end(), true) == isHome.end())
    return {};
  auto [entry, isNew] = homes_.try_emplace({sets_.of(made), sets_.of(read), isHome});
  if (!isNew)
    return entry->second;
  std::vector<double> seconds;
  const std::vector<std::vector<int>> homes = made.alternatives();
  for (int a : made.ofChoice)
    for (size_t c = 0; c < isHome.size(); ++c) {
      const int layout = read.layouts[read.ofChoice[c]];
      const bool isIt = std::find(homes[a].begin(), homes[a].end(), layout) != homes[a].end();
      seconds.push_back(isHome[c] && !isIt ? solver::kForbidden : 0);
    }
  return entry->second = std::move(seconds);
}

} // namespace cleave::planner
