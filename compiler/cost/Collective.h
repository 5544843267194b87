// Collective: the seconds of a collective among the ranks along some mesh axes.
//
// Let p be the number of ranks, n the bytes as below, α the latency of a call, h the seconds of a
// hop from rank to rank, B the bandwidth of one rank's connection, and m the number of members
// inside one unit (a node) of the topology; i and o mean the level inside a unit and the level
// between units. A group inside one unit has m = 1, and takes o for that level.
//
//   n: the larger of the sent and the received buffer: of an all_gather the result, of a
//      reduce_scatter the operand, else either of them
//
// A library is expected to take the fastest of these, with the fastest of the cluster's protocols:
//
//   ring       α + u (p/m ho + (p - 1 - p/m) hi) + u (p-1)/p n / min(m Bo, Bi)
//              u are the laps of runtime/base/Collective.h, which also says who uses which of ring,
//              pairwise exchange and message; without p/m if m = 1.
//              The m connections of a unit to the outside share the traffic, up to the bandwidth
//              inside.
//   tree       α + 2 (⌈log2 p/m⌉ ho + ⌈log2 m⌉ hi) + 2 n / (min(m Bo, Bi) / 2)
//              all_reduce only: the protocols with short hops send a flag with every word, which
//              halves the bandwidth.
//   pipelined  α + ⌈log2 p/m⌉ d + 2 (p-1)/p n / min(m Bo, Bi)
//              all_reduce only, where the cluster gives d, the seconds of a doubling: trees between
//              the units through which large messages are pipelined at the full bandwidth. Between
//              4 and 512 nodes, 16 MiB to 16 GiB take 0.095 ms per doubling beside their bytes
//              (within 15 %; arXiv 2411.13055).
//   two-level  the ring inside the units on n, and the one between units, all m at a time, on n / m
//
//   all_to_all α + (p - m) ho + (m - 1) hi + (p - m)/p n / Bo + (m - 1)/p n / Bi, pairwise
//   message    α + ho + n / Bo
//
// Sources: R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005 (rings, trees, pairwise
// exchange); P. Sanders, J. Speck, J. L. Träff, Parallel Computing 35(12), 2009 (trees that use
// both directions); the latencies and protocols by which NCCL chooses (its tuning model). With
// h = 0 the ring is the bandwidth-optimal algorithm with one latency per call.
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
  // axes span one rank or `bytes` is 0. Concave in `bytes`: joined calls take no longer than the
  // calls one by one.
  double seconds(CollectiveKind kind, const std::vector<int> &axes, double bytes) const;

  // Bytes sent by every rank (shareSent() of runtime/base/Collective.h).
  double sentBytes(CollectiveKind kind, const std::vector<int> &axes, double bytes) const;

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
