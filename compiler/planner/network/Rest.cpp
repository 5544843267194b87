// Dominance, the order in which choices are listed, and the price of the rest.
#include "compiler/planner/network/Rest.h"

#include <algorithm>
#include <numeric>

namespace cleave::planner {

size_t Listing::sizeOf(const ListKey &key, size_t first) const {
  auto found = sizes.find(key);
  return found == sizes.end() ? first : found->second;
}

// Whether a takes no more bytes than b for any usage.
static bool isNoLarger(const solver::Choice &a, const solver::Choice &b) {
  for (size_t u = 0; u < a.bytes.size(); ++u)
    if (a.bytes[u] > b.bytes[u])
      return false;
  return true;
}

// The choices that are neither impossible nor dominated, the fastest first.
static std::vector<size_t> undominated(const std::vector<solver::Choice> &all,
                                       const LayoutNumbers &layouts) {
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return all[a].cost < all[b].cost; });
  std::map<std::vector<int>, std::vector<size_t>> kept; // by layouts
  std::erase_if(order, [&](size_t i) {
    std::vector<size_t> &alike = kept[layouts[i]]; // none of them is slower than i
    if (all[i].cost == solver::kForbidden || std::any_of(alike.begin(), alike.end(), [&](size_t k) {
          return isNoLarger(all[k], all[i]);
        }))
      return true;
    alike.push_back(i);
    return false;
  });
  return order;
}

// Of these choices, the fastest first, the ones to list: at most `most`.
static std::vector<size_t> choicesToList(const std::vector<solver::Choice> &all,
                                         const std::vector<size_t> &fast, size_t most) {
  if (fast.size() <= most)
    return fast;
  std::vector<size_t> small = fast;
  auto bytes = [&](size_t i) {
    return std::accumulate(all[i].bytes.begin(), all[i].bytes.end(), int64_t(0));
  };
  std::stable_sort(small.begin(), small.end(),
                   [&](size_t a, size_t b) { return bytes(a) < bytes(b); });
  std::vector<size_t> chosen = {*std::min_element(fast.begin(), fast.end())};
  for (size_t k = 0; k < fast.size(); ++k)
    for (size_t i : {fast[k], small[k]})
      if (chosen.size() < most && std::find(chosen.begin(), chosen.end(), i) == chosen.end())
        chosen.push_back(i);
  return chosen;
}

// The least seconds of these choices and, per usage, their least bytes.
static solver::Choice leastOf(const std::vector<solver::Choice> &all,
                              const std::vector<size_t> &indices) {
  solver::Choice least = all[indices[0]];
  least.label = "rest";
  for (size_t i : indices) {
    least.cost = std::min(least.cost, all[i].cost);
    for (size_t u = 0; u < least.bytes.size(); ++u)
      least.bytes[u] = std::min(least.bytes[u], all[i].bytes[u]);
  }
  return least;
}

Listed listChoices(const std::vector<solver::Choice> &all, const LayoutNumbers &layouts,
                   const ListKey &list, size_t most) {
  Listed result;
  std::vector<size_t> kept = undominated(all, layouts);
  result.listed = choicesToList(all, kept, most);
  std::sort(result.listed.begin(), result.listed.end());
  std::sort(kept.begin(), kept.end());
  std::set_difference(kept.begin(), kept.end(), result.listed.begin(), result.listed.end(),
                      std::back_inserter(result.others));
  for (size_t i : result.listed)
    result.priced.push_back(all[i]);
  if (result.others.empty())
    return result;
  result.priced.push_back(leastOf(all, result.others));
  result.rest = {static_cast<int>(result.listed.size()), list, result.listed.size(),
                 result.others.size()};
  return result;
}

void LayoutSet::add(int layout) {
  auto found = std::find(layouts.begin(), layouts.end(), layout);
  ofChoice.push_back(static_cast<int>(found - layouts.begin()));
  if (found == layouts.end())
    layouts.push_back(layout);
}

std::vector<std::vector<int>> LayoutSet::alternatives() const {
  std::vector<std::vector<int>> result;
  for (int layout : layouts)
    result.push_back({layout});
  if (!others.empty())
    result.push_back(others);
  return result;
}

std::vector<int> LayoutSet::all() const {
  std::vector<int> result = layouts;
  for (int layout : others)
    if (std::find(layouts.begin(), layouts.end(), layout) == layouts.end())
      result.push_back(layout);
  return result;
}

LayoutSet layoutsOf(const Listed &list, const LayoutNumbers &layouts, size_t value) {
  LayoutSet set;
  for (size_t i : list.listed)
    set.add(layouts[i][value]);
  if (list.others.empty())
    return set;
  for (size_t i : list.others)
    set.others.push_back(layouts[i][value]);
  std::sort(set.others.begin(), set.others.end());
  set.others.erase(std::unique(set.others.begin(), set.others.end()), set.others.end());
  set.ofChoice.push_back(static_cast<int>(set.layouts.size()));
  return set;
}

} // namespace cleave::planner
