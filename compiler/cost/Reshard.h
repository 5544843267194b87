// Reshard: how a value gets from one layout into another by collectives, and what that costs.
//
// The planner takes the seconds, the partitioner emits the steps; both come from one shortest-path
// search over layouts. A step must be exact on padded blocks (dialects/interfaces/Sharding.h): a
// dim of size n over k ranks has blocks of ceil(n/k). So axes join or leave a dim only at its minor
// end, and only where the blocks nest (the block before is exactly as long as the new blocks
// together) or the dim is whole on the other side; then it is padded before or trimmed after, to
// the size that localShape() states. Axes that are not split in the end never become so in between:
// replicas do not help each other.
#pragma once

#include "compiler/cost/Collective.h"

#include <memory>
#include <optional>

namespace cleave::cost {

enum class ReshardKind {
  Slice,     // every rank keeps its block along `axes` of dim `dim`; no communication
  AllGather, // dim `dim` loses `axes`, its minor-most ones
  AllToAll, // dim `fromDim` loses `axes`, its minor-most ones; dim `dim` gets them at its minor end
  AllReduce,     // the value is no longer partial along `axes`
  ReduceScatter, // the same, and dim `dim` gets `axes` at its minor end
  Permute,       // every rank's block moves to another rank, see permuteSource()
};
const char *name(ReshardKind kind); // `slice`, `all_gather`, …

struct ReshardStep {
  ReshardKind kind = ReshardKind::Slice;
  std::vector<int> axes;               // the group, major to minor
  std::vector<int> toAxes;             // Permute only: the same axes in another order
  int dim = -1;                        // see ReshardKind; -1 where it has no meaning
  int fromDim = -1;                    // AllToAll only
  ReduceKind reduce = ReduceKind::Sum; // AllReduce and ReduceScatter only
  Sharding result;                     // the layout after the step
  double bytes = 0;                    // n of the formulas in Collective.h, padding included
  double seconds = 0;
};

// Permute: the rank whose block `rank` receives. The block that has position i along `axes` goes to
// the rank that has position i along `toAxes`.
int64_t permuteSource(const ReshardStep &step, const Mesh &mesh, int64_t rank);

class Resharder {
public:
  // The cluster is the view of forRanks().
  Resharder(cluster::Cluster cluster, Mesh mesh);
  ~Resharder();

  // The cheapest steps; empty if the layouts are the same but for axes of one rank. Nothing if
  // there are none: what is not partial cannot become so. `elementBytes` may be a fraction.
  std::optional<std::vector<ReshardStep>> path(const Sharding &from, const Sharding &to,
                                               const std::vector<int64_t> &shape,
                                               double elementBytes);

  // Their seconds together; infinity if there are none.
  double seconds(const Sharding &from, const Sharding &to, const std::vector<int64_t> &shape,
                 double elementBytes);

  const CollectiveCost &collectives() const { return collectives_; }

private:
  class Search; // from one layout of one shape to others, as far as it was needed
  Search &searchFrom(const Sharding &from, const Sharding &to, const std::vector<int64_t> &shape,
                     double elementBytes);

  CollectiveCost collectives_;
  struct Key {
    Sharding from;
    std::vector<int> split; // the axes that the targets split, sorted
    std::vector<int64_t> shape;
    double elementBytes;
    auto operator<=>(const Key &) const = default;
  };
  std::map<Key, std::unique_ptr<Search>> searches_;
};

} // namespace cleave::cost
