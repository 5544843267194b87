// Collective: the seconds of a collective among the ranks along some mesh axes.
//
// seconds = latency of a call + factor * n / B, where n is in bytes and p the number of ranks
// (bandwidth-optimal algorithms; R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005):
//
//   all_reduce       2 (p-1)/p   n = the buffer that every rank holds before and after
//   all_gather         (p-1)/p   n = the result
//   reduce_scatter     (p-1)/p   n = the operand
//   all_to_all         (p-1)/p   n = the buffer that every rank holds
//   send_recv                1   n = the message
//
// B is the bandwidth of the outermost topology level that the group crosses. If m members are
// inside one unit of the level below, their m connections to the outside share the traffic of the
// rings, up to the bandwidth of the inner level; an all-to-all and a send use each rank's own
// connection.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "dialects/interfaces/Sharding.h"

#include <map>

namespace cleave::cost {

// Prices collectives on one cluster and mesh.
class CollectiveCost {
public:
  // Ranks take the devices in order: rank r is device r. The cluster is the view of forRanks().
  CollectiveCost(cluster::Cluster cluster, Mesh mesh);

  // Seconds of a collective on `bytes` (n of the formulas) among the ranks along `axes`; 0 if the
  // axes span one rank or `bytes` is 0.
  double seconds(cluster::CollectiveKind kind, const std::vector<int> &axes, double bytes) const;

  // Of them, those of the call itself, whatever it transfers; 0 if the axes span one rank.
  double latencySeconds(cluster::CollectiveKind kind, const std::vector<int> &axes) const;

  // Bytes sent by every rank, by the factors above.
  double sentBytes(cluster::CollectiveKind kind, const std::vector<int> &axes, double bytes) const;

  const Mesh &mesh() const { return mesh_; }
  const cluster::Cluster &cluster() const { return cluster_; }

private:
  // The position in the topology of the groups along some axes: the worst of them.
  struct Place {
    size_t level = 0;    // the innermost level one unit of which holds the whole group
    int64_t members = 1; // the fewest members in a unit of the level below
  };
  Place placeOf(const std::vector<int64_t> &group) const;
  const Place &place(const std::vector<int> &axes) const;

  cluster::Cluster cluster_;
  Mesh mesh_;
  mutable std::map<std::vector<int>, Place> places_; // by sorted axes
};

} // namespace cleave::cost
