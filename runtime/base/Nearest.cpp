// See Nearest.h.
#include "runtime/base/Nearest.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>
#include <utility>

namespace cleave {

size_t editDistance(const std::string &a, const std::string &b) {
  // Distances between the beginnings of a and b: of this row and of the two before.
  std::vector<size_t> row(b.size() + 1), last(b.size() + 1), beforeLast;
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    beforeLast = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (a[i - 1] != b[j - 1]), last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
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

// The name in lower case, with `-` for `_`.
static std::string folded(std::string name) {
  for (char &c : name)
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

std::vector<std::string> similarNames(const std::string &name,
                                      const std::vector<std::string> &names) {
  constexpr size_t kMostTypos = 3, kShortestBeginning = 2;
  const std::string wanted = folded(name);
  std::vector<std::string> similar;
  std::pair<bool, size_t> least; // whether `wanted` does not begin it, and the distance
  for (const std::string &other : names) {
    const std::string found = folded(other);
    const bool isBegun = wanted.size() >= kShortestBeginning && found.starts_with(wanted);
    const std::pair<bool, size_t> rank(!isBegun, editDistance(wanted, found));
    if (!isBegun && rank.second > std::min(kMostTypos, (wanted.size() + 1) / 3))
      continue;
    if (similar.empty() || rank < least)
      similar.clear(), least = rank;
    if (rank == least)
      similar.push_back(other);
  }
  return similar;
}

// `; did you mean a, b or c?`; empty without similar names.
static std::string question(std::vector<std::string> similar) {
  constexpr size_t kMost = 3;
  similar.resize(std::min(similar.size(), kMost));
  return similar.empty() ? "" : "; did you mean " + oneOf(similar) + "?";
}

std::string oneOf(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

std::string suggestion(const std::string &name, std::vector<std::string> names,
                       const std::string &other) {
  if (const std::vector<std::string> similar = similarNames(name, names); !similar.empty())
    return question(similar);
  if (!other.empty())
    names.push_back(other);
  return ": expected " + oneOf(names);
}

std::string suggestionAmongMany(const std::string &name, const std::vector<std::string> &names) {
  constexpr size_t kListed = 5;
  if (const std::vector<std::string> similar = similarNames(name, names); !similar.empty())
    return question(similar);
  std::string text;
  for (const std::string &other : nearestNames(name, names, kListed))
    text += (text.empty() ? "" : ", ") + other;
  if (text.empty())
    return "";
  return (names.size() > kListed ? "; similar names are " : "; it has ") + text;
}

} // namespace cleave
