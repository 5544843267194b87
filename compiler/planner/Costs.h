// Costs: seconds of the planner's choices on one cluster and mesh. Layout changes are memoised.
#pragma once

#include "compiler/cost/Reshard.h"
#include "compiler/planner/Choices.h"

#include <map>

namespace cleave::planner {

// Whether the first reader of a value is so far from its producer that the reduction of the value
// can be joined with others (passes/schedule/Bucket.h).
bool isReadLate(const Value &value);

// Prices choices; keeps references to the constructor's arguments.
class Costs {
public:
  // `cluster` is the view of the mesh's ranks (cluster::forRanks).
  Costs(const StepModel &model, const cluster::Cluster &cluster, const Mesh &mesh)
      : model_(model), cluster_(cluster), mesh_(mesh), resharder_(cluster, mesh),
        kindOf_(model.values.size(), -1) {}

  const StepModel &model() const { return model_; }
  const Mesh &mesh() const { return mesh_; }

  // Seconds of one execution: of the kernel, and of bringing its results from OpChoice::natural to
  // OpChoice::results.
  double compute(const Op &op, const OpChoice &choice) const;
  double resolve(const Op &op, const OpChoice &choice);
  // Seconds of bringing a value from one layout to another; `solver::kForbidden` if impossible.
  double reshard(int value, const Sharding &from, const Sharding &to);
  // The steps of that change; nothing if impossible.
  std::optional<std::vector<cost::ReshardStep>> path(int value, const Sharding &from,
                                                     const Sharding &to);

  // The number of a layout, and reshard() on layouts by number, for the many queries of edges.
  int number(const Sharding &layout);
  const Sharding &layout(int number) const { return layouts_[number]; }
  double reshard(int value, int from, int to);
  // The least seconds from any of these layouts to any of those.
  double leastReshard(int value, const std::vector<int> &from, const std::vector<int> &to);

private:
  const StepModel &model_;
  const cluster::Cluster &cluster_;
  const Mesh &mesh_;
  cost::Resharder resharder_;
  std::map<Sharding, int> numbers_;
  std::vector<Sharding> layouts_;                                 // by number
  std::map<std::pair<std::vector<int64_t>, int64_t>, int> kinds_; // shape, bytes of an element
  std::vector<int> kindOf_;                                       // per value; -1: not yet computed
  std::vector<std::vector<std::vector<double>>> seconds_; // per kind, from, to; negative: not asked
};

} // namespace cleave::planner
