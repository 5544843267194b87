// See Balance.h.
#include "passes/stage/Balance.h"

#include "compiler/schedule/pipelines/Partition.h"

#include <cassert>
#include <numeric>

namespace cleave::stage {

// Places at which no neighbour is crossed for fewer seconds.
static std::vector<size_t> narrowPlaces(const std::vector<double> &crossing) {
  std::vector<size_t> places = {0};
  for (size_t i = 1; i + 1 < crossing.size(); ++i)
    if ((i == 1 || crossing[i] <= crossing[i - 1]) &&
        (i + 2 == crossing.size() || crossing[i] <= crossing[i + 1]))
      places.push_back(i);
  places.push_back(crossing.size() - 1);
  return places;
}

std::vector<int64_t> balancedCuts(const Chain &chain, int64_t chunks) {
  std::vector<size_t> places = narrowPlaces(chain.crossing);
  if (static_cast<int64_t>(places.size()) < chunks + 1) {
    places.resize(chain.crossing.size());
    std::iota(places.begin(), places.end(), 0);
  }
  std::vector<double> seconds, borders = {0};
  for (size_t unit = 0; unit + 1 < places.size(); ++unit) {
    double &sum = seconds.emplace_back();
    for (size_t i = places[unit]; i < places[unit + 1]; ++i)
      sum += chain.seconds[i];
    borders.push_back(chain.crossing[places[unit + 1]]);
  }
  const auto sizes =
      pipelines::balancedPartition(seconds, static_cast<uint32_t>(chunks), std::move(borders));
  assert(sizes && "each chunk has a unit");
  std::vector<int64_t> cuts;
  size_t unit = 0;
  for (auto size = sizes->begin(); size + 1 != sizes->end(); ++size)
    cuts.push_back(static_cast<int64_t>(places[unit += *size]));
  return cuts;
}

} // namespace cleave::stage
