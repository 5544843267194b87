// Position of groups in the topology, and the latency-bandwidth formulas.
#include "compiler/cost/Collective.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cleave::cost {

using cluster::Level;
using cluster::Link;

CollectiveCost::CollectiveCost(cluster::Cluster cluster, Mesh mesh)
    : cluster_(std::move(cluster)), mesh_(std::move(mesh)) {}

CollectiveCost::Place CollectiveCost::placeOf(const std::vector<int64_t> &group) const {
  Place place;
  for (; place.level + 1 < cluster_.levels.size(); ++place.level) {
    const int64_t devices = cluster_.levels[place.level].devices;
    bool isInside = std::all_of(group.begin(), group.end(), [&](int64_t rank) {
      return devices == 0 || rank / devices == group[0] / devices;
    });
    if (isInside)
      break;
  }
  if (place.level == 0)
    return place;
  std::map<int64_t, int64_t> members; // per unit of the level below
  for (int64_t rank : group)
    ++members[rank / cluster_.levels[place.level - 1].devices];
  place.members = static_cast<int64_t>(group.size());
  for (auto [unit, count] : members)
    place.members = std::min(place.members, count);
  return place;
}

const CollectiveCost::Place &CollectiveCost::place(const std::vector<int> &axes) const {
  std::vector<int> key = axes;
  std::sort(key.begin(), key.end());
  auto [entry, isNew] = places_.insert({key, {}});
  if (!isNew)
    return entry->second;
  Place worst = placeOf(mesh_.group(0, key));
  for (int64_t rank = 1; rank < mesh_.ranks(); ++rank) {
    if (mesh_.indexAlong(rank, key) != 0)
      continue; // not the first of its group
    Place place = placeOf(mesh_.group(rank, key));
    if (place.level > worst.level || (place.level == worst.level && place.members < worst.members))
      worst = place;
  }
  return entry->second = worst;
}

// A group of p ranks, m in each unit of the level inside.
namespace {
struct Group {
  CollectiveKind kind;
  double ranks, members;
  const Link &outer, &inner; // if m is 1, inner is not used

  double units() const { return std::ceil(ranks / members); }
  // Of the connections of all members of a unit together, per rank of a ring.
  double bandwidth() const {
    const double together = members * outer.bytesPerSecond;
    return members > 1 ? std::max(outer.bytesPerSecond, std::min(together, inner.bytesPerSecond))
                       : outer.bytesPerSecond;
  }
};
} // namespace

static double ringSeconds(const Group &group, double bytes) {
  const double laps = factsOf(group.kind).laps;
  const double steps = group.ranks - 1;
  const double outside = group.members > 1 ? std::min(steps, group.units()) : steps;
  return group.outer.latencySeconds + laps * outside * group.outer.hopSeconds +
         laps * (steps - outside) * group.inner.hopSeconds +
         shareSent(group.kind, group.ranks) * bytes / group.bandwidth();
}

// Seconds of an all_reduce along plain trees.
static double treeSeconds(const Group &group, double bytes) {
  const double hops = std::ceil(std::log2(group.units())) * group.outer.hopSeconds +
                      std::ceil(std::log2(group.members)) * group.inner.hopSeconds;
  return group.outer.latencySeconds + 2 * hops + 4 * bytes / group.bandwidth();
}

// Seconds of an all_reduce along pipelined trees.
static double pipelinedSeconds(const Group &group, double bytes) {
  return group.outer.latencySeconds +
         std::ceil(std::log2(group.units())) * group.outer.doublingSeconds +
         shareSent(group.kind, group.ranks) * bytes / group.bandwidth();
}

static double twoLevelSeconds(const Group &group, double bytes) {
  const Group inside{group.kind, group.members, 1, group.inner, group.inner};
  const Group between{group.kind, group.units(), 1, group.outer, group.outer};
  return ringSeconds(inside, bytes) + ringSeconds(between, bytes / group.members);
}

static double pairwiseSeconds(const Group &group, double bytes) {
  auto exchange = [&](const Link &link, double partners) {
    return partners * (link.hopSeconds + bytes / group.ranks / link.bytesPerSecond);
  };
  return group.outer.latencySeconds + exchange(group.outer, group.ranks - group.members) +
         exchange(group.inner, group.members - 1);
}

// The fastest algorithm with these protocols.
static double fastestSeconds(const Group &group, double bytes) {
  if (factsOf(group.kind).route == CollectiveRoute::Message)
    return group.outer.latencySeconds + group.outer.hopSeconds + bytes / group.outer.bytesPerSecond;
  if (factsOf(group.kind).route == CollectiveRoute::Pairwise)
    return pairwiseSeconds(group, bytes);
  double least = ringSeconds(group, bytes);
  if (group.kind == CollectiveKind::AllReduce)
    least = std::min(least, treeSeconds(group, bytes));
  if (group.kind == CollectiveKind::AllReduce && group.outer.doublingSeconds > 0)
    least = std::min(least, pipelinedSeconds(group, bytes));
  return group.members > 1 ? std::min(least, twoLevelSeconds(group, bytes)) : least;
}

double CollectiveCost::sentBytes(CollectiveKind kind, const std::vector<int> &axes,
                                 double bytes) const {
  const int64_t ranks = mesh_.ranksAlong(axes);
  return ranks == 1 ? 0 : shareSent(kind, static_cast<double>(ranks)) * bytes;
}

double CollectiveCost::seconds(CollectiveKind kind, const std::vector<int> &axes,
                               double bytes) const {
  const int64_t ranks = mesh_.ranksAlong(axes);
  if (ranks == 1 || bytes <= 0)
    return 0;
  const Place &where = place(axes);
  const bool hasInside = where.level > 0 && where.members > 1;
  const std::span<const Link> outer = cluster_.levels[where.level].protocols(kind, ranks),
                              inner = hasInside ? cluster_.levels[where.level - 1].protocols(
                                                      kind, where.members)
                                                : outer.first(1);
  double least = std::numeric_limits<double>::infinity();
  for (const Link &between : outer)
    for (const Link &inside : inner) {
      const Group group{kind, static_cast<double>(ranks),
                        hasInside ? static_cast<double>(where.members) : 1, between, inside};
      least = std::min(least, fastestSeconds(group, bytes));
    }
  return least;
}

} // namespace cleave::cost
