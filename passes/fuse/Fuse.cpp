// Builds graph.fusion ops from the groups that were decided.
#include "passes/fuse/Fuse.h"

#include "passes/fuse/Groups.h"
#include "passes/fuse/Prune.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace cleave::fuse {

namespace {

// One graph.fusion: its operands are what the workers read from outside, in order of first use.
class GroupBuilder {
public:
  GroupBuilder(Groups &groups, const Groups::Group &group, llvm::DenseMap<Value, Value> &replaced)
      : groups_(groups), group_(group), replaced_(replaced) {}

  void build() {
    SmallVector<int> workers = groups_.workersOf(group_);
    Operation *last = groups_.op(group_.members.back());
    for (int worker : workers)
      inside_.insert(groups_.op(worker)->getResult(0));
    SmallVector<Value> given, yielded;
    for (int member : group_.members)
      if (Value value = groups_.op(member)->getResult(0); groups_.isRead(value, group_))
        given.push_back(value);
    body_ = new Block();
    OpBuilder into(last->getContext());
    into.setInsertionPointToEnd(body_);
    for (int worker : workers)
      clone(into, groups_.op(worker));
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

  // An iota that two readers count along different dims must not tie them together: each gets its
  // own.
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

  // Makes an operand known inside: an argument of the group, or a copy of the carriers that lead to
  // one.
  void bring(OpBuilder &b, Value value) {
    SmallVector<Operation *> carriers;
    while (!mapping_.contains(value) && !inside_.contains(value)) {
      Operation *op = value.getDefiningOp();
      if (!op || !isCarrier(op)) {
        mapping_.map(value, body_->addArgument(value.getType(), value.getLoc()));
        operands_.push_back(value);
        break;
      }
      carriers.push_back(op);
      if (op->getNumOperands() == 0)
        break;
      value = op->getOperand(0);
    }
    for (Operation *op : llvm::reverse(carriers))
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

// A group of the op's own before it, which does the same.
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

// A broadcast or iota that an op outside all groups reads becomes a group of its own.
void wrapCarriers(func::FuncOp step) {
  for (Operation &op : llvm::make_early_inc_range(step.getBody().front())) {
    if (!isa<graph::BroadcastOp, graph::IotaOp>(op) || graph::splatValue(op.getResult(0)))
      continue;
    op.replaceAllUsesWith(wrapped(op));
    op.erase();
  }
}

// Where one op reads a value along two dims (all pairs of positions or of segments), all readings but the first are made
// before it: a group has one dim of it only.
void separatePairs(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isWorker(&op))
      continue;
    for (OpOperand &operand : llvm::drop_begin(op.getOpOperands())) {
      if (isProperAlone(&op))
        break;
      Operation *carrier = operand.get().getDefiningOp();
      if (carrier && isCarrier(carrier) && carrier->getNumOperands() == 1)
        operand.set(wrapped(*carrier).getResult(0));
    }
  }
}

// Gives every reader of an iota its own: two may count along different dims of one space.
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

void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

// Decides groups among the ops that are in none and builds them.
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
  sortTopologically(&step.getBody().front());
}

bool isStillOneKernel(graph::FusionOp fusion) {
  Block &body = fusion.getBody().front();
  SmallVector<Operation *> workers;
  for (Operation &op : body)
    if (isWorker(&op))
      workers.push_back(&op);
  Operation *yield = body.getTerminator();
  return workers.empty() || isOneKernel(workers, [&](Operation *op) {
           return llvm::is_contained(op->getUsers(), yield);
         });
}

// Takes apart groups that were held together by ops that have been pruned. Whether there were any.
bool dissolveBroken(Block &block) {
  bool any = false;
  for (auto fusion : llvm::make_early_inc_range(block.getOps<graph::FusionOp>())) {
    if (isStillOneKernel(fusion))
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
  wrapCarriers(step);
}

namespace {

struct FormGroupsPass : PassWrapper<FormGroupsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormGroupsPass)
  StringRef getArgument() const override { return "cleave-fuse-groups"; }
  StringRef getDescription() const override {
    return "Form kernel groups from the primitive ops of the step";
  }
  void runOnOperation() override { formGroups(getOperation()); }
};

} // namespace

std::unique_ptr<Pass> createFormGroupsPass() { return std::make_unique<FormGroupsPass>(); }
void registerFusePasses() { PassRegistration<FormGroupsPass>(); }

} // namespace cleave::fuse
