// Groups: which ops of the step will be one kernel, decided before the IR is touched.
//
// Two kinds of ops take part. Workers (pointwise ops and reductions) belong to exactly one group.
// Carriers (splat constants, iotas, broadcasts, reshapes that add or drop dims of size one) cost
// nothing and are copied into every group that reads them.
//
// Workers share a group if producer and consumer run over one iteration space:
//  (G1) no value has two dims of one factor;
//  (G2) all reductions of the group reduce the same factors R, of operands with all factors F of
//       the group;
//  (G3) a reduction is used inside its group only if it is a row: its dims are the last ones of
//       the operand, others are left, and it has at most kRowElements elements, so that it stays
//       in the first-level cache from pass to pass. Inside, a reduced dim can no longer be split
//       over ranks: where that would hurt, for a loss over a large vocabulary, batch statistics or
//       the mean over a batch, reductions therefore end their group;
//  (G4) what the group gives away has all factors F, or F without R if there are rows; where R is
//       no row, only F without R;
//  (G5) what has fewer factors is computed again at every point: it stays inside and is cheap;
//  (G6) merging makes no cycle, and all members run equally often (once per micro-batch or once
//       per step).
#pragma once

#include "dialects/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace cleave::fuse {

// The longest row that is fused through: 64 KiB of f32.
inline constexpr int64_t kRowElements = 16384;

bool isWorker(mlir::Operation *op);
bool isCarrier(mlir::Operation *op);

// Whether the worker alone, with the carriers in front of it, obeys (G1). One that compares a value with itself along two
// dims does not.
bool isProperAlone(mlir::Operation *worker);

// Whether the workers, with the carriers in front of them, obey all rules but (G6); `isGiven` says which of them are read
// outside.
bool isOneKernel(llvm::ArrayRef<mlir::Operation *> workers,
                 llvm::function_ref<bool(mlir::Operation *)> isGiven);

// `value`, or what carriers brought it from; null behind constants and iotas.
mlir::Value sourceOf(mlir::Value value);

// Ops of the step's block by position, and the groups that they are in.
class Groups {
public:
  explicit Groups(mlir::func::FuncOp step);

  // Merges until no rule lets two more groups become one.
  void form();
  // Lets groups compute again what they read from others, where that moves fewer bytes.
  void recompute();

  struct Group {
    llvm::SmallVector<int> members;    // positions, ascending
    llvm::SmallVector<int> recomputed; // positions of other groups' workers that this one repeats
    llvm::SmallVector<int> numbers;    // which of the groups this is, or is to replace
  };
  // Groups in the order of their first member; empty ones have been merged away.
  const std::vector<Group> &groups() const { return groups_; }
  // The ops of the step as they stood, by position.
  const std::vector<mlir::Operation *> &ops() const { return ops_; }
  mlir::Operation *op(int position) const { return ops_[position]; }
  // Whether any op but the group's own workers reads the value (through carriers or directly).
  bool isRead(mlir::Value value, const Group &group) const;
  // The work so far: ops of groups that were held against the rules, and nodes on the ways between groups.
  size_t work() const { return work_; }
  // All workers of a group, ascending.
  llvm::SmallVector<int> workersOf(const Group &group) const;

private:
  bool tryMerge(int a, int b);
  bool mergeProducers();
  bool mergeSiblings();
  void mergeNumbers();
  bool obeysRules(const Group &group) const;
  bool isIn(mlir::Operation *op, const Group &group) const;
  // The groups that compute a worker: its own one, and those that repeat it.
  llvm::SmallVector<int> groupsWith(int worker) const;
  // The readers of a value, and the readers of what carriers make of it, by position.
  llvm::SmallVector<mlir::Operation *> usersOf(mlir::Value value) const;

  // Nodes are the groups, by their first member, and the ops in none, all by position.
  int nodeOf(int position) const;
  llvm::ArrayRef<int> membersOf(const int &node) const;
  // Whether `first` reaches `second` through nodes outside both. If not, `between` gets all that it reaches
  // and that stand before `second`.
  bool reachesOutside(int first, int second, llvm::SmallVectorImpl<int> &between) const;
  // Gives the node `into`, which `first` and `second` have become, a rank between what they read and what
  // reads them.
  void rerank(int first, int second, int into, llvm::SmallVectorImpl<int> &between);

  struct Cone;
  std::optional<Cone> coneOf(mlir::Value value) const;
  llvm::SmallVector<int> readersOf(mlir::Value value) const;
  bool isMaterialised(mlir::Value value) const;
  llvm::DenseSet<mlir::Value> inputsOf(const Group &group) const;
  bool tryRecompute(mlir::Value value);

  std::vector<mlir::Operation *> ops_;
  llvm::DenseMap<mlir::Operation *, int> position_;
  std::vector<int> groupOf_; // per position, -1: no worker
  std::vector<Group> groups_;
  std::vector<llvm::SmallVector<int>>
      readers_; // per position, through carriers, without them; ascending
  // Every node stands behind those that it reads, so that a way from one to another only has to be looked for
  // between the two.
  std::vector<int> rank_;  // per node
  std::vector<int> order_; // nodes by rank; -1: merged away
  // Pairs that could not be merged, with their numbers of members then: while these are the same, nothing
  // has changed for them.
  llvm::DenseMap<std::pair<int, int>, std::pair<size_t, size_t>> refused_;
  mutable size_t work_ = 0;
  llvm::DenseMap<int, llvm::SmallVector<int>> recomputedIn_; // per worker the groups that repeat it
  llvm::DenseSet<mlir::Operation *> perMicroBatch_;
};

} // namespace cleave::fuse
