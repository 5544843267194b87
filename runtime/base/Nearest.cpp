// See Nearest.h.
#include "runtime/base/Nearest.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace cleave {

size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> nearestNames(const std::string &name,
                                      const std::vector<std::string> &names, size_t most) {
  constexpr size_t kBehind = std::numeric_limits<size_t>::max() / 2; // names that contain it
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string &other : names) {
    const bool contains = other.find(name) != std::string::npos;
    ranked.emplace_back(contains ? other.size() - name.size() : kBehind + editDistance(name, other),
                        other);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> nearest;
  for (size_t i = 0; i < std::min(most, ranked.size()); ++i)
    nearest.push_back(std::move(ranked[i].second));
  return nearest;
}

} // namespace cleave
