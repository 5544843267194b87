// Costs: seconds of the planner's choices on one cluster and mesh. Looks the same question up only
// once.
#pragma once

#include "compiler/cost/Reshard.h"
#include "compiler/planner/Choices.h"

#include <map>

namespace cleave::planner {

// Whether a value is read so late, if at all, that a reduction of it is joined with others.
bool isReadLate(const Value &value);

class Costs {
public:
  // `cluster` as the mesh's ranks see it (cluster::forRanks).
  Costs(const StepModel &model, const cluster::Cluster &cluster, const Mesh &mesh)
      : model_(model), cluster_(cluster), mesh_(mesh), resharder_(cluster, mesh),
        kindOf_(model.values.size(), -1) {}

  const StepModel &model() const { return model_; }
  const Mesh &mesh() const { return mesh_; }

  // Once: the kernel, and bringing its results to the layouts stated.
  double compute(const Op &op, const OpChoice &choice) const;
  double resolve(const Op &op, const OpChoice &choice);
  // Bringing a value from one layout to another; `solver::forbidden` where that is impossible.
  double reshard(int value, const Sharding &from, const Sharding &to);

  // The same with layouts by number, for the many questions that edges ask.
  int number(const Sharding &layout);
  double reshard(int value, int from, int to);

private:
  const StepModel &model_;
  const cluster::Cluster &cluster_;
  const Mesh &mesh_;
  cost::Resharder resharder_;
  std::map<Sharding, int> numbers_;
  std::vector<Sharding> layouts_;                                 // by number
  std::map<std::pair<std::vector<int64_t>, int64_t>, int> kinds_; // shape, bytes of an element
  std::vector<int> kindOf_;                                       // per value, -1: not known yet
  std::vector<std::vector<std::vector<double>>> seconds_; // per kind, from, to; negative: not asked
};

} // namespace cleave::planner
