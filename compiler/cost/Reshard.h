// Reshard: the cheapest sequence of collectives from one layout of a value to another.
//
// The planner uses the seconds, the partitioner emits the steps; both come from one shortest-path
// search over layouts. A step must be exact on padded blocks (dialects/interfaces/Sharding.h): a
// dim of size n over k ranks has blocks of ceil(n/k). Therefore axes join or leave a dim only at
// its minor end, and only if the blocks nest (the block before is exactly as long as the new blocks
// together) or the dim is whole on the other side; the dim is padded before or trimmed after the
// step, to the size of localShape(). Axes that the target does not split are never split on the
// way. A step takes any selection of the axes that may join a dim or complete a sum; where these
// are more than four, one or two of them, or several that follow each other in the mesh. That
// limits the steps that are emitted, not only their prices: the planner's bound holds for layout
// changes of these steps. Axes that follow each other can do in one step what one axis in their
// place can do.
#pragma once

#include "compiler/cost/Collective.h"

#include <array>
#include <memory>
#include <optional>

namespace cleave::cost {

// One step of a layout change, which determines the fields in use:
//
//   slice           every rank keeps its block along `axes` of dim `toDim`; no communication
//   AllGather       dim `fromDim` loses `axes`, its minor-most ones
//   AllToAll        dim `fromDim` loses `axes`, and dim `toDim` gets them at its minor end
//   AllReduce       the value is no longer partial along `axes`
//   ReduceScatter   the same, and dim `toDim` gets `axes` at its minor end
//   Permute         blocks move: position i along `axes` goes to position i along `toAxes`
struct ReshardStep {
  std::optional<CollectiveKind> collective; // none: a slice
  std::vector<int> axes;                    // the group, major to minor
  std::vector<int> toAxes;                  // Permute only: the same axes in another order
  std::optional<int> fromDim;               // the dim that loses `axes`
  std::optional<int> toDim;                 // the dim that gets `axes`
  ReduceKind reduce = ReduceKind::Sum;      // AllReduce and ReduceScatter only
  Sharding result;                          // the layout after the step
  double bytes = 0;                         // n of the formulas in Collective.h, padding included
  double packedBytes = 0;   // staging memory of the blocks that are sent (Packing.h)
  double receivedBytes = 0; // the same of those that are received
  double seconds = 0;       // of the collective and its copies, or of the slice

  // `slice`, or the name of the collective.
  std::string_view name() const { return collective ? cleave::name(*collective) : "slice"; }
};

class ReshardMoves;

// Finds layout changes on one cluster and mesh; results are memoised.
class Resharder {
public:
  // The cluster is the view of forRanks().
  Resharder(cluster::Cluster cluster, Mesh mesh);
  ~Resharder();

  // The cheapest steps; empty if the layouts differ only in axes of one rank. Nothing if there is
  // no way: a value that is not partial cannot become partial. `elementBytes` may be a fraction.
  std::optional<std::vector<ReshardStep>> path(const Sharding &from, const Sharding &to,
                                               const std::vector<int64_t> &shape,
                                               double elementBytes);

  // The sum of their seconds; infinity if there is no way.
  double seconds(const Sharding &from, const Sharding &to, const std::vector<int64_t> &shape,
                 double elementBytes);

  const CollectiveCost &collectives() const { return collectives_; }

private:
  class Search; // from one layout of one shape to others, continued on demand
  Search &searchFrom(const Sharding &from, const Sharding &to, const std::vector<int64_t> &shape,
                     double elementBytes);

  CollectiveCost collectives_;
  std::unique_ptr<ReshardMoves> moves_;
  std::map<std::pair<std::vector<int64_t>, double>, int> tensors_; // by shape, bytes of an element
  using Key = std::array<int, 3>; // numbers of the tensor, of `from`, and of the axes `to` splits
  std::map<Key, std::unique_ptr<Search>> searches_;
};

} // namespace cleave::cost
