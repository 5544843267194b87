// Groups: decides which ops of the step become one kernel, before the IR is changed.
//
// Two kinds of ops take part. Compute ops (pointwise ops and reductions) belong to exactly one
// group. Clonable ops (splat constants, iotas, broadcasts, reshapes that add or drop dims of size
// one) cost nothing and are cloned into every group that reads them.
//
// Compute ops share a group if producer and consumer run over one iteration space:
//  (G1) no value has two dims of one factor;
//  (G2) all reductions of the group reduce the same factors R, of operands with all factors F of
//       the group. On GPUs, up to kColumnSums columns (G4) may be reduced beside rows (G3) of up to
//       kSweptElements elements, over F without R: the gradients of a norm are one kernel;
//  (G3) a reduction is used inside its group only if it is a row: its dims are the last ones of
//       the operand, others are left, and it has at most kRowElements elements, so that it stays
//       in the first-level cache from pass to pass. Inside, a reduced dim can no longer be split
//       over ranks: where that would hurt, for a loss over a large vocabulary, batch statistics or
//       the mean over a batch, reductions therefore end their group;
//  (G4) a value that is read outside the group has factors F without R, or all factors F if the
//       reductions are rows, or is a column beside them. On GPUs, it may have all factors if the
//       reductions are columns: they reduce the first dim of their operands and keep the last one,
//       and all values have their dims in the same order, without transposes;
//  (G5) a value with fewer factors is recomputed at every point: it is read inside only and cheap;
//  (G6) merging makes no cycle, and all members run equally often (once per micro-batch or once
//       per step).
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/graph/Stage.h"
#include "passes/fuse/AcyclicGraph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <set>
#include <unordered_map>

namespace cleave::fuse {

// The most elements of a row that a group may reduce and read again (G3): 64 KiB of f32.
inline constexpr int64_t kRowElements = 16384;
// The limits of rows and columns in one group (G2): a block of 1024 threads holds a row and the
// sums of the columns in registers, 8 elements of each per thread.
inline constexpr int64_t kSweptElements = 8192;
inline constexpr size_t kColumnSums = 4;

// The two kinds of ops that groups consist of.
bool isComputeOp(mlir::Operation *op);
bool isClonable(mlir::Operation *op);

// Whether the compute op alone, with the clonable ops that it reads, obeys (G1). An op that
// compares a value with itself along two dims does not.
bool isProperAlone(mlir::Operation *computeOp);

// Whether the compute ops, with the clonable ops that they read, obey all rules but (G6).
// `isGiven`: whether the op's result is read outside the group. `isForGpus`: whether the rules for
// GPUs hold.
bool isOneKernel(llvm::ArrayRef<mlir::Operation *> computeOps,
                 llvm::function_ref<bool(mlir::Operation *)> isGiven, bool isForGpus);
// Whether a group that has been built obeys these rules, on the device of its module; a group
// without compute ops does.
bool isOneKernel(graph::FusionOp group);

// The value that `value` is made of by clonable ops alone, or `value` itself; null if it is made of
// constants and iotas.
mlir::Value sourceOf(mlir::Value value);

// The ops of the step's block, numbered by their position, and the groups that they are in.
class Groups {
public:
  explicit Groups(mlir::func::FuncOp step);

  // Merges until no rule lets two more groups become one.
  void form();
  // Lets groups recompute what they read from other groups, where that moves fewer bytes. Merges
  // groups that reduce what they read together only then.
  void recompute();

  // One group, by positions of ops.
  struct Group {
    llvm::SmallVector<int> members;    // positions, ascending
    llvm::SmallVector<int> recomputed; // positions of other groups' compute ops that it recomputes
    llvm::SmallVector<int> numbers;    // indices of the groups that it is, or is to replace
  };
  // Groups in the order of their first member; a group without members was merged into another.
  const std::vector<Group> &groups() const { return groups_; }
  // The ops of the step when this object was made, by position.
  const std::vector<mlir::Operation *> &ops() const { return ops_; }
  mlir::Operation *op(int position) const { return ops_[position]; }
  // Whether an op that is not a compute op of the group reads the value, directly or through
  // clonable ops.
  bool isRead(mlir::Value value, const Group &group) const;
  // A measure of the time spent: compute ops checked against the rules, pairs of groups compared,
  // and nodes visited in searches for cycles.
  size_t work() const { return work_ + graph_.visits(); }
  // All compute ops of a group, its own and the recomputed ones: positions, ascending.
  llvm::SmallVector<int> computeOpsOf(const Group &group) const;

private:
  // The part of the step in which a group runs: the last one of those of its members.
  graph::StagePart partOf(const Group &group) const;
  bool tryMerge(int a, int b);
  // Whether two groups have at most as many members as one may have.
  bool mayHoldBoth(int a, int b) const;
  // Numbers of ops of two groups.
  std::pair<size_t, size_t> sizesOf(int into, int from) const;
  // Whether the pair could not be merged before and has not changed since.
  bool isRefused(int a, int b) const;
  // What a group's ops touch: enough to tell cheaply that two groups cannot reduce one space.
  struct Touched {
    llvm::DenseMap<mlir::Value, llvm::SmallVector<int>> factors; // of the group alone, per value
    llvm::SmallVector<int> reduced; // factors of what is reduced, sorted
  };
  const Touched &touchedBy(int group);
  bool mayReduceTogether(int a, int b);
  bool reduces(int group) const;
  // What the groups of some readers of one value have in common; indices into their list.
  struct Sharing {
    llvm::DenseMap<int, llvm::SmallVector<int>> inGroup; // per group, its readers
    // Per value, the first reader of each group that touched it before any were merged.
    llvm::DenseMap<mlir::Value, llvm::SmallVector<int>> touching;
  };
  Sharing sharingOf(llvm::ArrayRef<int> readers);
  llvm::SmallVector<int> mayReduceWith(llvm::ArrayRef<int> readers, int index,
                                       const Sharing &sharing);
  bool mergeReaders(llvm::ArrayRef<int> readers);
  bool mergeProducers();
  bool mergeSiblings();
  void mergeNumbers();
  bool obeysRules(const Group &group) const;
  // Compute ops, by position, and the clonable ops that they read.
  llvm::SmallVector<mlir::Operation *> withClonables(llvm::ArrayRef<int> computeOps) const;
  bool isIn(mlir::Operation *op, const Group &group) const;
  // The groups that compute an op: its own one, and those that recompute it.
  llvm::SmallVector<int> groupsWith(int computeOp) const;
  // The ops that are not clonable and read a value, directly or through clonable ops: positions,
  // ascending.
  llvm::SmallVector<int> readersOf(mlir::Value value) const;

  struct Cone;
  std::optional<Cone> coneOf(mlir::Value value) const;
  bool isMaterialised(mlir::Value value) const;
  llvm::DenseSet<mlir::Value> inputsOf(const Group &group) const;
  bool tryRecompute(mlir::Value value);
  bool mergeAlong(int group);

  std::vector<mlir::Operation *> ops_;
  llvm::DenseMap<mlir::Operation *, int> position_;
  std::vector<int> groupOf_; // per position, -1: no compute op
  std::vector<llvm::SmallVector<mlir::Operation *, 2>> clonables_; // per position, read by the op
  std::vector<Group> groups_;
  // Per group the shape of all values, if all members are pointwise and read nothing that is
  // reduced or rearranged: two such groups of one shape obey the rules together.
  std::vector<std::optional<graph::Shape>> even_;
  std::vector<std::optional<Touched>> touched_; // per group, if known
  // The groups and the ops in no group. Op i, by position, is read by all ops that are not clonable
  // and read it directly or through clonable ops: these are cloned into groups, so that a path over
  // them alone makes no cycle.
  AcyclicGraph graph_;
  // Pairs of groups that could not be merged, with their numbers of members then. While these are
  // the same, the pair is not tried again.
  llvm::DenseMap<std::pair<int, int>, std::pair<size_t, size_t>> refused_;
  // Readers of one value that could not be merged, since the last ones that could. Many values
  // have the same readers, such as the rates that all updates of parameters read.
  std::set<llvm::SmallVector<int>> compared_;
  mutable size_t work_ = 0;
  // Whether groups obey the rules, by the identity of their ops and which of them are read outside.
  mutable std::unordered_map<std::string, bool> obeys_;
  llvm::DenseMap<int, llvm::SmallVector<int>> recomputedIn_;  // groups that recompute an op
  llvm::DenseMap<mlir::Operation *, graph::StagePart> parts_; // groups lie in one
  bool isForGpus_;
};

} // namespace cleave::fuse
