// A dynamic program over the places of the last border. See Balance.h.
#include "passes/stage/Balance.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <tuple>

namespace cleave::stage {

namespace {

// Places at which no neighbour crosses less, the ends included.
std::vector<int64_t> narrowPlaces(const Chain &chain) {
  const std::vector<double> &crossing = chain.crossing;
  const auto count = static_cast<int64_t>(chain.seconds.size());
  std::vector<int64_t> places = {0};
  for (int64_t i = 1; i < count; ++i)
    if ((i == 1 || crossing[i] <= crossing[i - 1]) &&
        (i + 1 == count || crossing[i] <= crossing[i + 1]))
      places.push_back(i);
  places.push_back(count);
  return places;
}

std::vector<int64_t> allPlaces(const Chain &chain) {
  std::vector<int64_t> places(chain.seconds.size() + 1);
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<int64_t>(i);
  return places;
}

// The best division of the ops before a place.
struct Division {
  double slowest = std::numeric_limits<double>::infinity(); // seconds of its slowest stage
  double crossing = 0;                                      // seconds of its borders
  size_t before = 0; // the border before its last stage, an index of `places`
  bool operator<(const Division &other) const {
    return std::tie(slowest, crossing) < std::tie(other.slowest, other.crossing);
  }
};

} // namespace

std::vector<int64_t> balancedCuts(const Chain &chain, int64_t stages) {
  const auto count = static_cast<int64_t>(chain.seconds.size());
  assert(stages >= 1 && stages <= count && "every stage has an op");
  std::vector<int64_t> places = narrowPlaces(chain);
  if (static_cast<int64_t>(places.size()) < stages + 1)
    places = allPlaces(chain);
  std::vector<double> until(count + 1, 0);
  for (int64_t i = 0; i < count; ++i)
    until[i + 1] = until[i] + chain.seconds[i];
  auto border = [&](int64_t place) {
    return place == 0 || place == count ? 0 : chain.crossing[place];
  };
  // best[s][p]: s + 1 stages for the ops before places[p].
  std::vector<std::vector<Division>> best(stages, std::vector<Division>(places.size()));
  for (int64_t s = 0; s < stages; ++s)
    for (size_t end = 1; end < places.size(); ++end)
      for (size_t begin = 0; begin < (s == 0 ? 1 : end); ++begin) {
        const double own =
            until[places[end]] - until[places[begin]] + border(places[begin]) + border(places[end]);
        Division division{own, border(places[begin]), begin};
        if (s > 0) {
          const Division &rest = best[s - 1][begin];
          division.slowest = std::max(own, rest.slowest);
          division.crossing += rest.crossing;
        }
        best[s][end] = std::min(best[s][end], division);
      }
  std::vector<int64_t> cuts;
  size_t at = places.size() - 1;
  for (int64_t s = stages - 1; s > 0; --s) {
    at = best[s][at].before;
    cuts.push_back(places[at]);
  }
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

} // namespace cleave::stage
