// Goes from the last op of the forward part to the first, so that the clones that read an op stand
// in their places before the op is cloned.
#include "passes/remat/Realise.h"

#include "compiler/planner/model/ReadStep.h"
#include "dialects/graph/Away.h"
#include "dialects/graph/Recomputed.h"
#include "dialects/graph/Step.h"
#include "passes/fuse/Fuse.h"
#include "passes/fuse/Groups.h"
#include "passes/fuse/Prune.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::remat {

namespace {

// The value that a view shows, or the value itself.
Value sourceOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasTrait<graph::LayoutOnly>())
      break;
    value = op->getOperand(0);
  }
  return value;
}

class Recomputation {
public:
  Recomputation(func::FuncOp step, const planner::StepModel &model,
                const planner::RematPolicy &policy)
      : body_(step.getBody().front()), ops_(graph::opsOf(step)), policy_(policy) {
    for (auto [i, op] : llvm::enumerate(ops_)) {
      positions_[op] = static_cast<int>(i);
      if (model.ops[i].part == planner::Part::Forward)
        forward_.insert(op);
    }
    Operation *end = body_.getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands()))
      if (std::optional<unsigned> argument = graph::aliasOf(step, i))
        if (Operation *op = value.getDefiningOp(); op && !forward_.contains(op))
          replacedBy_[step.getArgument(*argument)] = op;
  }

  size_t run() {
    size_t clones = 0;
    for (size_t i = ops_.size(); i-- > 0;)
      if (policy_.recomputed[i])
        clones += recompute(static_cast<int>(i));
    return clones;
  }

private:
  // Whether the op reads the recomputed value instead of the value. The step's return does not.
  bool readsRecomputed(Operation *op) const {
    return !forward_.contains(op) && op != body_.getTerminator();
  }

  // The position in the step of an op; of a clone that of the op before which it stands.
  int positionOf(Operation *op) const { return positions_.lookup(op); }

  // From the last place to the first: a clone serves the readers that are left. Returns the number
  // of clones.
  size_t recompute(int number) {
    auto places = policy_.places.find(number);
    if (places == policy_.places.end())
      return recomputeAt(number, std::nullopt, 1);
    size_t clones = 0;
    for (size_t i = places->second.size(); i-- > 0;)
      clones += recomputeAt(number, places->second[i], static_cast<int64_t>(i) + 1);
    return clones;
  }

  // Clones the op at a position, before others that stand there, for the readers there and after
  // it; without a position for all readers, before the first of them. `recomputation`: its number
  // among those of the op. False: there are no readers, or the op cannot stand there.
  bool recomputeAt(int number, std::optional<int> position, int64_t recomputation) {
    Operation *op = ops_[number], *place = nullptr;
    auto reads = [&](Operation *user) {
      return readsRecomputed(user) && (!position || positionOf(user) >= *position);
    };
    auto stayBefore = [&](Operation *other) {
      if (!place || other->isBeforeInBlock(place))
        place = other;
    };
    for (OpResult result : op->getResults())
      if (policy_.isRecomputed(number, static_cast<int>(result.getResultNumber())))
        for (Operation *user : result.getUsers())
          if (reads(user))
            stayBefore(user);
    if (!place)
      return false;
    if (position)
      stayBefore(first_.try_emplace(*position, ops_[*position]).first->second);
    for (Value operand : op->getOperands())
      if (Operation *update = replacedBy_.lookup(sourceOf(operand)))
        stayBefore(update);
    // Keeps the value if its argument is replaced before the op or another operand is computed.
    if (!op->isBeforeInBlock(place) || !llvm::all_of(op->getOperands(), [&](Value operand) {
          Operation *producer = operand.getDefiningOp();
          return !producer || producer->isBeforeInBlock(place);
        }))
      return false;
    OpBuilder b(place);
    Operation *clone = b.clone(*op);
    graph::markRecomputed(clone, recomputation);
    for (auto [value, copy] : llvm::zip_equal(op->getResults(), clone->getResults()))
      if (policy_.isRecomputed(number, static_cast<int>(copy.getResultNumber())))
        value.replaceUsesWithIf(copy, [&](OpOperand &use) { return reads(use.getOwner()); });
      else if (auto group = dyn_cast<graph::FusionOp>(clone))
        readKept(group, copy.getResultNumber(), value);
      else // kept until here
        value.replaceUsesWithIf(copy, [&](OpOperand &use) {
          return readsRecomputed(use.getOwner()) && clone->isBeforeInBlock(use.getOwner());
        });
    // At once: an operand that only unused results need must not be recomputed for this reader.
    if (auto group = dyn_cast<graph::FusionOp>(clone))
      clone = fuse::pruneGroup(group);
    positions_[clone] = positionOf(place);
    Operation *&first = first_.try_emplace(positionOf(place), clone).first->second;
    if (clone->isBeforeInBlock(first))
      first = clone;
    return true;
  }

  // Lets the ops inside a recomputed group read a kept result instead of computing it.
  static void readKept(graph::FusionOp clone, unsigned result, Value kept) {
    Block &body = clone.getBody().front();
    Value inside = body.getTerminator()->getOperand(result);
    clone->insertOperands(clone->getNumOperands(), kept);
    inside.replaceAllUsesWith(body.addArgument(inside.getType(), inside.getLoc()));
  }

  Block &body_;
  SmallVector<Operation *> ops_;
  const planner::RematPolicy &policy_;
  llvm::DenseSet<Operation *> forward_;
  llvm::DenseMap<Operation *, int> positions_;    // see positionOf()
  llvm::DenseMap<int, Operation *> first_;        // per position the first clone that stands there
  llvm::DenseMap<Value, Operation *> replacedBy_; // per argument, outside of the forward part
};

} // namespace

// Marks what is kept in other spaces.
static size_t markAway(func::FuncOp step, const planner::RematPolicy &policy) {
  const SmallVector<Operation *> ops = graph::opsOf(step);
  MLIRContext *context = step.getContext();
  size_t marks = 0;
  auto mark = [&](Attribute before, Space space, auto set) {
    if (graph::spaceOf(before) == space)
      return;
    set(space == Space::Device ? StringAttr() : graph::toAttribute(space, context));
    ++marks;
  };
  for (const auto &[number, space] : policy.away) {
    Operation *op = ops[number];
    mark(op->getAttr(graph::kAway), space,
         [&](StringAttr text) { op->setAttr(graph::kAway, text); });
  }
  for (const auto &[number, space] : policy.arguments) {
    const auto argument = static_cast<unsigned>(number);
    mark(step.getArgAttr(argument, graph::kAway), space, [&](StringAttr text) {
      text ? step.setArgAttr(argument, graph::kAway, text)
           : (void)step.removeArgAttr(argument, graph::kAway);
    });
  }
  return marks;
}

size_t realise(func::FuncOp step, const planner::StepModel &model,
               const planner::RematPolicy &policy) {
  const size_t marks = markAway(step, policy);
  const size_t clones = Recomputation(step, model, policy).run();
  if (clones == 0)
    return marks;
  Block &block = step.getBody().front();
  fuse::pruneGroups(block);
  fuse::eraseDead(block);
  if (!llvm::all_of(block.getOps<graph::FusionOp>(),
                    [](graph::FusionOp group) { return fuse::isOneKernel(group); }))
    fuse::formGroups(step);
  return marks + clones;
}

#define GEN_PASS_DEF_REALISEPASS
#include "passes/remat/Passes.h.inc"

namespace {

// Reads the policy from the IR: graph.remat = "recompute", or "from_kept" for a group whose
// sufficient results are kept, or another op whose passed on results are.
struct RealisePass : impl::RealisePassBase<RealisePass> {
  void runOnOperation() override {
    func::FuncOp step = graph::stepOf(getOperation());
    if (!step)
      return;
    FailureOr<planner::StepModel> model = planner::readStep(step);
    if (failed(model))
      return signalPassFailure();
    planner::RematPolicy policy = planner::keepAll(*model);
    for (auto [i, op] : llvm::enumerate(graph::opsOf(step)))
      if (auto remat = op->getAttrOfType<StringAttr>("graph.remat")) {
        policy.recomputed[i] = true;
        const int number = static_cast<int>(i);
        std::optional<std::vector<int>> kept = planner::sufficientResults(*model, number);
        if (!kept)
          kept = planner::passedOnResults(*model, number);
        if (kept && remat == "from_kept")
          policy.kept[number] = *kept;
        op->removeAttr("graph.remat");
      }
    planner::normalise(*model, policy);
    realise(step, *model, policy);
  }
};

} // namespace

void registerRematPasses() { PassRegistration<RealisePass>(); }

} // namespace cleave::remat
