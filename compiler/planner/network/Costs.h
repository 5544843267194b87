// Costs: seconds of the planner's choices on one cluster and mesh. Layout changes are memoised.
#pragma once

#include "compiler/cost/Reshard.h"
#include "compiler/planner/choices/Choices.h"

#include <array>
#include <map>

namespace cleave::planner {

// The most bytes of a bucket (Buckets.h), unless a single tensor is larger.
inline constexpr int64_t kBucketBytes = int64_t(25) << 20;

// The first op outside the update that reads a value; INT_MAX if there is none.
int firstReader(const StepModel &model, const Value &value);

// Whether a reduction of this value can wait for others (Buckets.h).
bool isReadLate(const StepModel &model, const Value &value);

// Prices choices; keeps references to the model and the cluster.
class Costs {
public:
  // `cluster` is the view of the mesh's ranks (cluster::forRanks).
  Costs(const StepModel &model, const cluster::Cluster &cluster, const Mesh &mesh);
  Costs(const Costs &) = delete;

  const StepModel &model() const { return model_; }
  const Mesh &mesh() const { return mesh_; }
  const cluster::Cluster &cluster() const { return cluster_; }
  const cost::CollectiveCost &collectives() const { return resharder_.collectives(); }

  // Seconds per step of an op: of its kernel in every micro-batch (Computing.h), of its moves, and
  // of masking the padding of its operands. A group masks inside its kernel. Without the moves of
  // an op that `copiesBehindProducer`.
  double kernels(const Op &op, const OpChoice &choice) const;
  // Seconds per step of the work of an op that `dependsOnProducer`, whose producer takes the choice
  // `made`: of those moves, if no layout change follows the producer's kernel or the op; of the
  // kernel of a sum, if one comes between.
  double afterProducer(const OpChoice &made, const Op &op, const OpChoice &choice) const;
  // Seconds per step of copying an argument's new value to its place, where it lives in this
  // layout; 0 if it is written there at once.
  double replacement(const Argument &argument, const Sharding &storage) const;
  // Seconds per step of copying a value, of which a rank has a block in this layout, to another
  // space and back.
  double away(int value, const Sharding &layout) const;
  // Seconds of bringing its results once from OpChoice::natural to OpChoice::results. A reduction
  // that can be joined with others is counted with its share, by bytes, of the largest bucket that
  // is possible: the seconds of a call grow no faster than its bytes, so that no bucket has less.
  double resolve(const Op &op, const OpChoice &choice);
  // Seconds of bringing a value from one layout to another; `solver::kForbidden` if impossible.
  double reshard(int value, const Sharding &from, const Sharding &to);
  // The steps of that change; nothing if impossible.
  std::optional<std::vector<cost::ReshardStep>> path(int value, const Sharding &from,
                                                     const Sharding &to);
  // The most bytes that a rank needs at one time during that change: packed and received blocks,
  // and blocks in other layouts on the way. The block in `to` is not counted, and neither is the
  // one in `from` if it `isKept`: both have memory of their own. 0 if the change is impossible.
  int64_t changeBytes(int value, const Sharding &from, const Sharding &to, bool isKept);
  // The all_reduce of that change, if the change is nothing else and can wait for others.
  std::optional<cost::ReshardStep> joinable(int value, const Sharding &from, const Sharding &to);
  // Seconds of an all_reduce of `bytes` among the ranks along `axes`.
  double allReduce(const std::vector<int> &axes, double bytes) const;

  // Layouts by number, and reshard() on them, for the many queries of edges.
  const Sharding &layout(int number) const { return layouts_[number]; }
  int number(const Sharding &layout);
  double reshard(int value, int from, int to);
  // The least seconds from any of these layouts to any of those.
  double leastReshard(int value, const std::vector<int> &from, const std::vector<int> &to);

private:
  // One run of an op's masks, or of one of its moves.
  double masking(const Op &op, const OpChoice &choice) const;
  double moving(const Op &op, const Move &move, const OpChoice &choice) const;
  double allMoves(const Op &op, const OpChoice &choice) const;
  // Whether a reshape that copies whole tensors copies nothing of the blocks of this choice.
  bool isView(const Op &reshape, const OpChoice &choice) const;
  // Of the copies of a product.
  double copying(const Op &op, const OpChoice &choice) const;
  int classOf(int value);
  int64_t stepBytes(int64_t before, const cost::ReshardStep &step, int64_t after,
                    bool keepsSource) const;
  double shareOfBucket(const cost::ReshardStep &reduction) const;

  const StepModel &model_;
  const cluster::Cluster &cluster_;
  Mesh mesh_;
  cost::Resharder resharder_;
  double lateBytes_ = 0; // of all values whose reduction can wait
  std::map<Sharding, int> numbers_;
  std::vector<Sharding> layouts_;                                   // by number
  std::map<std::pair<std::vector<int64_t>, int64_t>, int> classes_; // shape, bytes of an element
  std::vector<int> classOf_; // per value; -1: not yet computed
  std::vector<std::vector<std::vector<double>>>
      seconds_;                                       // per class, from, to; negative: not asked
  std::map<std::array<int, 4>, int64_t> changeBytes_; // by class, from, to and isKept
};

} // namespace cleave::planner
