// Recomputes cheap values inside the groups that read them. The backward part then reads a few
// inputs and row statistics of the forward part instead of every intermediate.
#include "passes/fuse/Groups.h"

using namespace mlir;

namespace cleave::fuse {

// The pointwise ops of one group that lead to a value, back to values that lie in memory anyway.
struct Groups::Cone {
  SmallVector<int> computeOps; // positions
  llvm::DenseSet<Value> leaves;
};

namespace {

constexpr size_t kLargestCone = 24;

// Symbolic sizes count as large.
double bytesOf(Value value) {
  std::optional<int64_t> bytes = graph::byteCount(value.getType()).constant();
  return bytes ? static_cast<double>(*bytes) : 1e12;
}

} // namespace

// Whether the value lies in memory, whichever other values are recomputed.
bool Groups::isMaterialised(Value value) const {
  Operation *op = value.getDefiningOp();
  int group = op ? groupOf_[position_.lookup(op)] : -1;
  return group < 0 || isRead(value, groups_[group]);
}

llvm::DenseSet<Value> Groups::inputsOf(const Group &group) const {
  llvm::DenseSet<Value> inputs;
  for (int position : computeOpsOf(group))
    for (Value operand : ops_[position]->getOperands())
      if (Value source = sourceOf(operand))
        if (Operation *op = source.getDefiningOp(); !op || !isIn(op, group))
          inputs.insert(source);
  return inputs;
}

std::optional<Groups::Cone> Groups::coneOf(Value value) const {
  Cone cone;
  SmallVector<Value> stack = {value};
  llvm::DenseSet<Value> seen;
  while (!stack.empty()) {
    Value next = stack.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    bool isLeaf =
        !op || !isa<graph::PointwiseInterface>(op) || (next != value && isMaterialised(next));
    if (isLeaf) {
      cone.leaves.insert(next);
      continue;
    }
    cone.computeOps.push_back(position_.lookup(op));
    if (cone.computeOps.size() > kLargestCone)
      return std::nullopt;
    for (Value operand : op->getOperands())
      if (Value source = sourceOf(operand))
        stack.push_back(source);
  }
  return cone;
}

// Recomputes `value` in all groups that read it, if that moves fewer bytes than writing and reading
// it. Returns whether it did.
bool Groups::tryRecompute(Value value) {
  SmallVector<int> readers;
  for (int position : readersOf(value)) {
    if (groupOf_[position] < 0)
      return false; // an op outside of groups needs it in memory
    for (int group : groupsWith(position))
      if (!isIn(value.getDefiningOp(), groups_[group]))
        readers.push_back(group);
  }
  llvm::sort(readers);
  readers.erase(llvm::unique(readers), readers.end());
  std::optional<Cone> cone = readers.empty() ? std::nullopt : coneOf(value);
  if (!cone)
    return false;
  double saved = bytesOf(value), added = 0;
  for (Value leaf : cone->leaves)
    if (!isMaterialised(leaf))
      added += bytesOf(leaf); // it has to be written
  std::vector<Group> changed;
  for (int reader : readers) {
    llvm::DenseSet<Value> inputs = inputsOf(groups_[reader]);
    saved += bytesOf(value);
    for (Value leaf : cone->leaves)
      if (!inputs.contains(leaf) &&
          !(leaf.getDefiningOp() && isIn(leaf.getDefiningOp(), groups_[reader])))
        added += bytesOf(leaf);
    changed.push_back(groups_[reader]);
    for (int computeOp : cone->computeOps)
      if (!isIn(ops_[computeOp], changed.back()))
        changed.back().recomputed.push_back(computeOp);
    if (!obeysRules(changed.back()))
      return false;
  }
  if (added > saved)
    return false;
  for (auto [reader, group] : llvm::zip(readers, changed)) {
    for (int computeOp : ArrayRef(group.recomputed).drop_front(groups_[reader].recomputed.size()))
      recomputedIn_[computeOp].push_back(reader);
    groups_[reader] = group;
    if (!touched_.empty())
      touched_[reader].reset();
  }
  return true;
}

// Merges a group with one other that reduces a value which both read. Returns whether it did.
bool Groups::mergeAlong(int group) {
  for (int position : computeOpsOf(groups_[group]))
    for (Value operand : ops_[position]->getOperands()) {
      Value source = sourceOf(operand);
      if (!source || !touchedBy(group).factors.contains(source))
        continue; // a number
      for (int reader : readersOf(source)) {
        if (groupOf_[reader] < 0)
          continue;
        for (int other : groupsWith(reader))
          if (other != group && reduces(other) && !isRefused(group, other) &&
              mayReduceTogether(group, other) && tryMerge(group, other))
            return true;
      }
    }
  return false;
}

void Groups::recompute() {
  for (auto it = ops_.rbegin(); it != ops_.rend(); ++it) {
    Operation *op = *it;
    int group = groupOf_[position_.lookup(op)];
    if (group < 0 || !isa<graph::PointwiseInterface>(op) ||
        !isRead(op->getResult(0), groups_[group]))
      continue;
    tryRecompute(op->getResult(0));
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (int group = 0, count = static_cast<int>(groups_.size()); group < count; ++group)
      changed |= !groups_[group].recomputed.empty() && reduces(group) && mergeAlong(group);
  }
}

} // namespace cleave::fuse
