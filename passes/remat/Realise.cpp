// Goes from the last op of the forward part to the first, so that the readers of an op that are
// repetitions themselves stand in their places.
#include "passes/remat/Realise.h"

#include "compiler/planner/model/ReadStep.h"
#include "dialects/graph/Again.h"
#include "dialects/graph/Away.h"
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

class Repetition {
public:
  Repetition(func::FuncOp step, const planner::StepModel &model, const planner::Fates &fates)
      : body_(step.getBody().front()), ops_(graph::opsOf(step)), fates_(fates) {
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
      if (fates_.again[i])
        clones += repeat(static_cast<int>(i));
    return clones;
  }

private:
  // Whether the op reads the repetition of a value instead of the value. The step's return does
  // not.
  bool readsRepetition(Operation *op) const {
    return !forward_.contains(op) && op != body_.getTerminator();
  }

  // The position in the step of an op; of a clone that of the op before which it stands.
  int positionOf(Operation *op) const { return positions_.lookup(op); }

  // From the last place to the first: a repetition serves the readers that are left. Returns the
  // number of clones.
  size_t repeat(int number) {
    auto places = fates_.places.find(number);
    if (places == fates_.places.end())
      return repeatAt(number, std::nullopt, 1);
    size_t clones = 0;
    for (size_t i = places->second.size(); i-- > 0;)
      clones += repeatAt(number, places->second[i], static_cast<int64_t>(i) + 1);
    return clones;
  }

  // A repetition at a position, before others that stand there, for the readers there and behind
  // it; without a position for all readers, before the first of them. False: there are none, or the
  // op cannot stand there.
  bool repeatAt(int number, std::optional<int> position, int64_t repetition) {
    Operation *op = ops_[number], *place = nullptr;
    auto reads = [&](Operation *user) {
      return readsRepetition(user) && (!position || positionOf(user) >= *position);
    };
    auto stayBefore = [&](Operation *other) {
      if (!place || other->isBeforeInBlock(place))
        place = other;
    };
    for (OpResult result : op->getResults())
      if (fates_.isAgain(number, static_cast<int>(result.getResultNumber())))
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
    graph::markAgain(clone, repetition);
    for (auto [value, again] : llvm::zip_equal(op->getResults(), clone->getResults()))
      if (fates_.isAgain(number, static_cast<int>(again.getResultNumber())))
        value.replaceUsesWithIf(again, [&](OpOperand &use) { return reads(use.getOwner()); });
      else if (auto group = dyn_cast<graph::FusionOp>(clone))
        readKept(group, again.getResultNumber(), value);
      else // kept until here
        value.replaceUsesWithIf(again, [&](OpOperand &use) {
          return readsRepetition(use.getOwner()) && clone->isBeforeInBlock(use.getOwner());
        });
    // At once: an operand that only unused results need must not be repeated for this reader.
    if (auto group = dyn_cast<graph::FusionOp>(clone))
      clone = fuse::pruneGroup(group);
    positions_[clone] = positionOf(place);
    Operation *&first = first_.try_emplace(positionOf(place), clone).first->second;
    if (clone->isBeforeInBlock(first))
      first = clone;
    return true;
  }

  // Lets the ops inside a repeated group read a kept result instead of computing it.
  static void readKept(graph::FusionOp clone, unsigned result, Value kept) {
    Block &body = clone.getBody().front();
    Value inside = body.getTerminator()->getOperand(result);
    clone->insertOperands(clone->getNumOperands(), kept);
    inside.replaceAllUsesWith(body.addArgument(inside.getType(), inside.getLoc()));
  }

  Block &body_;
  SmallVector<Operation *> ops_;
  const planner::Fates &fates_;
  llvm::DenseSet<Operation *> forward_;
  llvm::DenseMap<Operation *, int> positions_;    // see positionOf()
  llvm::DenseMap<int, Operation *> first_;        // per position the first clone that stands there
  llvm::DenseMap<Value, Operation *> replacedBy_; // per argument, outside of the forward part
};

} // namespace

// Marks what is kept in other spaces.
static size_t markAway(func::FuncOp step, const planner::Fates &fates) {
  const SmallVector<Operation *> ops = graph::opsOf(step);
  MLIRContext *context = step.getContext();
  size_t marks = 0;
  auto mark = [&](Attribute before, Space space, auto set) {
    if (graph::spaceOf(before) == space)
      return;
    set(space == Space::Device ? StringAttr() : graph::toAttribute(space, context));
    ++marks;
  };
  for (const auto &[number, space] : fates.away) {
    Operation *op = ops[number];
    mark(op->getAttr(graph::kAway), space,
         [&](StringAttr text) { op->setAttr(graph::kAway, text); });
  }
  for (const auto &[number, space] : fates.arguments) {
    const auto argument = static_cast<unsigned>(number);
    mark(step.getArgAttr(argument, graph::kAway), space, [&](StringAttr text) {
      text ? step.setArgAttr(argument, graph::kAway, text)
           : (void)step.removeArgAttr(argument, graph::kAway);
    });
  }
  return marks;
}

size_t realise(func::FuncOp step, const planner::StepModel &model, const planner::Fates &fates) {
  const size_t marks = markAway(step, fates);
  const size_t clones = Repetition(step, model, fates).run();
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

// The ops with a fate in the IR: graph.fate = "again", or "from_kept" for a group whose sufficient
// results are kept, or another op whose passed on results are.
struct RealisePass : impl::RealisePassBase<RealisePass> {
  void runOnOperation() override {
    func::FuncOp step = graph::stepOf(getOperation());
    if (!step)
      return;
    FailureOr<planner::StepModel> model = planner::readStep(step);
    if (failed(model))
      return signalPassFailure();
    planner::Fates fates = planner::keepAll(*model);
    for (auto [i, op] : llvm::enumerate(graph::opsOf(step)))
      if (auto fate = op->getAttrOfType<StringAttr>("graph.fate")) {
        fates.again[i] = true;
        const int number = static_cast<int>(i);
        std::optional<std::vector<int>> kept = planner::sufficientResults(*model, number);
        if (!kept)
          kept = planner::passedOnResults(*model, number);
        if (kept && fate == "from_kept")
          fates.kept[number] = *kept;
        op->removeAttr("graph.fate");
      }
    planner::normalise(*model, fates);
    realise(step, *model, fates);
  }
};

} // namespace

void registerRematPasses() { PassRegistration<RealisePass>(); }

} // namespace cleave::remat
