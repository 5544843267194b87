// Position of groups in the topology, and the latency-bandwidth formulas.
#include "compiler/cost/Collective.h"

#include <algorithm>

namespace cleave::cost {

using cluster::CollectiveKind;
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

static double factor(CollectiveKind kind, double ranks) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return 2 * (ranks - 1) / ranks;
  case CollectiveKind::SendRecv:
    return 1;
  default:
    return (ranks - 1) / ranks;
  }
}

double CollectiveCost::sentBytes(CollectiveKind kind, const std::vector<int> &axes,
                                 double bytes) const {
  const int64_t ranks = mesh_.ranksAlong(axes);
  return ranks == 1 ? 0 : factor(kind, static_cast<double>(ranks)) * bytes;
}

double CollectiveCost::latencySeconds(CollectiveKind kind, const std::vector<int> &axes) const {
  const int64_t ranks = mesh_.ranksAlong(axes);
  return ranks == 1 ? 0 : cluster_.levels[place(axes).level].link(kind, ranks).latencySeconds;
}

double CollectiveCost::seconds(CollectiveKind kind, const std::vector<int> &axes,
                               double bytes) const {
  const int64_t ranks = mesh_.ranksAlong(axes);
  if (ranks == 1 || bytes <= 0)
    return 0;
  const Place &where = place(axes);
  const Link &link = cluster_.levels[where.level].link(kind, ranks);
  double bandwidth = link.bytesPerSecond;
  bool isRing = kind != CollectiveKind::AllToAll && kind != CollectiveKind::SendRecv;
  if (where.level > 0 && isRing) {
    double inside = cluster_.levels[where.level - 1].link(kind, where.members).bytesPerSecond;
    double together = bandwidth * static_cast<double>(where.members);
    bandwidth = std::max(bandwidth, std::min(together, inside));
  }
  return link.latencySeconds + sentBytes(kind, axes, bytes) / bandwidth;
}

} // namespace cleave::cost
