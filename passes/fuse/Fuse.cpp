// Builds the graph.fusion ops of the groups that Groups decides.
#include "passes/fuse/Fuse.h"

#include "compiler/analysis/Identity.h"
#include "dialects/program/Program.h"
#include "passes/fuse/Groups.h"
#include "passes/fuse/Prune.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"

#include <queue>
#include <unordered_map>

using namespace mlir;

namespace cleave::fuse {

namespace {

// Builds one graph.fusion. Its operands are the values that the compute ops read from outside, in
// order of first use.
class GroupBuilder {
public:
  GroupBuilder(Groups &groups, const Groups::Group &group, llvm::DenseMap<Value, Value> &replaced)
      : groups_(groups), group_(group), replaced_(replaced) {}

  void build() {
    SmallVector<int> computeOps = groups_.computeOpsOf(group_);
    Operation *last = groups_.op(group_.members.back());
    for (int computeOp : computeOps)
      inside_.insert(groups_.op(computeOp)->getResult(0));
    SmallVector<Value> given, yielded;
    for (int member : group_.members)
      if (Value value = groups_.op(member)->getResult(0); groups_.isRead(value, group_))
        given.push_back(value);
    body_ = new Block();
    OpBuilder into(last->getContext());
    into.setInsertionPointToEnd(body_);
    for (int computeOp : computeOps)
      clone(into, groups_.op(computeOp));
    for (Value value : given)
      yielded.push_back(mapping_.lookup(value));
    graph::YieldOp::create(into, last->getLoc(), yielded);
    OpBuilder b(last);
    auto fusion =
        graph::FusionOp::create(b, last->getLoc(), TypeRange(ValueRange(given)), operands_);
    fusion.getBody().push_back(body_);
    for (auto [value, result] : llvm::zip(given, fusion.getResults()))
      replaced_[value] = result;
  }

private:
  void clone(OpBuilder &b, Operation *op) {
    for (Value operand : op->getOperands())
      bring(b, operand);
    b.clone(*op, mapping_);
    for (Value operand : op->getOperands())
      forgetIota(operand);
  }

  // Two readers may count along different dims of one iota, which must not unite these dims: each
  // reader gets its own clone.
  void forgetIota(Value value) {
    if (sourceOf(value) || graph::splatValue(value))
      return;
    while (mapping_.contains(value)) {
      mapping_.erase(value);
      Operation *op = value.getDefiningOp();
      if (op->getNumOperands() == 0)
        return;
      value = op->getOperand(0);
    }
  }

  // Maps an operand to a value inside the group: a new argument, or clones of the clonable ops that
  // lead to an argument.
  void bring(OpBuilder &b, Value value) {
    SmallVector<Operation *> clonables;
    while (!mapping_.contains(value) && !inside_.contains(value)) {
      Operation *op = value.getDefiningOp();
      if (!op || !isClonable(op)) {
        mapping_.map(value, body_->addArgument(value.getType(), value.getLoc()));
        operands_.push_back(value);
        break;
      }
      clonables.push_back(op);
      if (op->getNumOperands() == 0)
        break;
      value = op->getOperand(0);
    }
    for (Operation *op : llvm::reverse(clonables))
      b.clone(*op, mapping_);
  }

  Groups &groups_;
  const Groups::Group &group_;
  llvm::DenseMap<Value, Value> &replaced_;
  llvm::DenseSet<Value> inside_;
  IRMapping mapping_;
  SmallVector<Value> operands_;
  Block *body_ = nullptr;
};

// A group before the op that computes the same as the op.
graph::FusionOp wrapped(Operation &op) {
  OpBuilder b(&op);
  auto fusion = graph::FusionOp::create(b, op.getLoc(), op.getResultTypes(), op.getOperands());
  Block &body = fusion.getBody().emplaceBlock();
  OpBuilder into = OpBuilder::atBlockEnd(&body);
  IRMapping mapping;
  for (Value operand : op.getOperands())
    mapping.map(operand, body.addArgument(operand.getType(), operand.getLoc()));
  Operation *inside = into.clone(op, mapping);
  graph::YieldOp::create(into, op.getLoc(), inside->getResults());
  return fusion;
}

// Wraps every broadcast or iota that an op outside of groups reads into a group of its own.
void wrapClonables(func::FuncOp step) {
  for (Operation &op : llvm::make_early_inc_range(step.getBody().front())) {
    if (!isClonable(&op) || op.hasTrait<graph::LayoutOnly>() || graph::splatValue(op.getResult(0)))
      continue;
    op.replaceAllUsesWith(wrapped(op));
    op.erase();
  }
}

// Where one op reads a value along two dims (all pairs of positions or of segments), every operand
// but the first is computed by a group of its own, so that the op's group has one dim of the value.
void separatePairs(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isComputeOp(&op))
      continue;
    for (OpOperand &operand : llvm::drop_begin(op.getOpOperands())) {
      if (isProperAlone(&op))
        break;
      Operation *clonable = operand.get().getDefiningOp();
      if (clonable && isClonable(clonable) && clonable->getNumOperands() == 1)
        operand.set(wrapped(*clonable).getResult(0));
    }
  }
}

// Clones every iota for each of its readers: two may count along different dims of one space.
void separateIotas(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isa<graph::IotaOp>(op))
      continue;
    OpBuilder b(&op);
    for (OpOperand &use : llvm::make_early_inc_range(op.getUses()))
      if (!op.hasOneUse())
        use.set(b.clone(op)->getResult(0));
  }
}

// Moves ops behind those that they read. The order is that of repeated sweeps over the block, each
// of which takes the ops whose operands have been taken, in block order: an op follows from the
// last of its operands in the same sweep if it stands behind it, else in the next sweep.
void sortBySweeps(Block &block) {
  std::vector<Operation *> ops;
  llvm::DenseMap<Operation *, int> position;
  for (Operation &op : block.without_terminator()) {
    position[&op] = static_cast<int>(ops.size());
    ops.push_back(&op);
  }
  std::vector<SmallVector<int, 4>> readers(ops.size());
  std::vector<int> waitsFor(ops.size()), sweep(ops.size());
  for (auto [number, top] : llvm::enumerate(ops))
    top->walk([&, reader = static_cast<int>(number)](Operation *op) {
      for (Value operand : op->getOperands())
        if (Operation *maker = operand.getDefiningOp(); maker && maker->getBlock() == &block) {
          readers[position.lookup(maker)].push_back(reader);
          ++waitsFor[reader];
        }
    });
  using Turn = std::pair<int, int>; // sweep, position
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> ready;
  for (auto [op, count] : llvm::enumerate(waitsFor))
    if (count == 0)
      ready.push({0, static_cast<int>(op)});
  while (!ready.empty()) {
    const auto [turn, number] = ready.top();
    ready.pop();
    ops[number]->moveBefore(block.getTerminator());
    for (int reader : readers[number]) {
      sweep[reader] = std::max(sweep[reader], reader > number ? turn : turn + 1);
      if (--waitsFor[reader] == 0)
        ready.push({sweep[reader], reader});
    }
  }
}

// Forms groups of the ops that are in no group.
void groupLooseOps(func::FuncOp step, bool recompute) {
  Groups groups(step);
  groups.form();
  if (recompute)
    groups.recompute();
  llvm::DenseMap<Value, Value> replaced;
  for (const Groups::Group &group : groups.groups())
    if (!group.members.empty())
      GroupBuilder(groups, group, replaced).build();
  for (Operation *op : groups.ops())
    for (Value value : op->getResults())
      if (Value given = replaced.lookup(value))
        value.replaceAllUsesWith(given);
  sortBySweeps(step.getBody().front());
}

// Dissolves groups that break a rule since ops were pruned. Returns whether there were any.
bool dissolveBroken(Block &block) {
  bool any = false;
  std::unordered_map<std::string, bool> isOneKernelOf; // by identity
  for (auto fusion : llvm::make_early_inc_range(block.getOps<graph::FusionOp>())) {
    auto [obeys, isNew] = isOneKernelOf.try_emplace(analysis::identityOf(fusion));
    if (isNew)
      obeys->second = isOneKernel(fusion);
    if (obeys->second)
      continue;
    any = true;
    OpBuilder b(fusion);
    IRMapping mapping;
    Block &body = fusion.getBody().front();
    mapping.map(body.getArguments(), fusion.getOperands());
    for (Operation &op : body.without_terminator())
      b.clone(op, mapping);
    for (auto [result, value] :
         llvm::zip_equal(fusion.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    fusion.erase();
  }
  return any;
}

} // namespace

bool isOneKernel(graph::FusionOp group) {
  Block &body = group.getBody().front();
  SmallVector<Operation *> computeOps;
  for (Operation &op : body)
    if (isComputeOp(&op))
      computeOps.push_back(&op);
  Operation *yield = body.getTerminator();
  auto isGiven = [&](Operation *op) { return llvm::is_contained(op->getUsers(), yield); };
  return computeOps.empty() || isOneKernel(computeOps, isGiven, program::isForGpus(group));
}

void separateIotasInGroups(func::FuncOp step) {
  for (auto fusion : step.getBody().front().getOps<graph::FusionOp>())
    separateIotas(fusion.getBody().front());
}

void formGroups(func::FuncOp step) {
  Block &block = step.getBody().front();
  separateIotas(block);
  separatePairs(block);
  groupLooseOps(step, /*recompute=*/true);
  pruneGroups(block);
  eraseDead(block);
  if (dissolveBroken(block))
    groupLooseOps(step, /*recompute=*/false);
  eraseDead(block);
  wrapClonables(step);
}

#define GEN_PASS_DEF_GROUPSPASS
#include "passes/fuse/Passes.h.inc"

namespace {

struct GroupsPass : impl::GroupsPassBase<GroupsPass> {
  void runOnOperation() override { formGroups(getOperation()); }
};

} // namespace

void registerFusePasses() { PassRegistration<GroupsPass>(); }

} // namespace cleave::fuse
