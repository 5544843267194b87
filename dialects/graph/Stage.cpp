// See Stage.h.
#include "dialects/graph/Stage.h"

#include "dialects/graph/Messages.h"
#include "dialects/graph/MicroBatches.h"
#include "dialects/graph/Recomputed.h"
#include "dialects/graph/Transfer.h"

#include <tuple>

using namespace mlir;

namespace cleave::graph {

// -- stages and actions ---------------------------------------------------------------------------

std::optional<Stage> stageOf(func::FuncOp step) {
  auto numbers = step->getParentOfType<ModuleOp>()->getAttrOfType<DenseI64ArrayAttr>(kStage);
  if (!numbers)
    return std::nullopt;
  const ArrayRef<int64_t> chunks = numbers.asArrayRef().drop_front(2);
  return Stage{numbers[0], numbers[1], {chunks.begin(), chunks.end()}};
}

void setStage(ModuleOp module, const Stage &stage) {
  SmallVector<int64_t> numbers = {stage.index, stage.count};
  numbers.append(stage.chunks.begin(), stage.chunks.end());
  module->setAttr(kStage, DenseI64ArrayAttr::get(module.getContext(), numbers));
}

bool isStage(func::FuncOp step) { return stageOf(step).has_value(); }

std::string nameOf(Action action, int64_t chunk) {
  static constexpr const char *kNames[] = {"receive forward",  "forward",   "send forward",
                                           "receive backward", "recompute", "backward",
                                           "send backward",    "weights"};
  const std::string name = kNames[static_cast<int>(action)];
  return chunk == 0 ? name : name + " " + std::to_string(chunk);
}

std::vector<ScheduledAction> scheduleOf(ModuleOp module) {
  std::vector<ScheduledAction> schedule;
  if (auto numbers = module->getAttrOfType<DenseI64ArrayAttr>(kSchedule))
    for (int64_t i = 0; i + 2 < numbers.size(); i += 3)
      schedule.push_back({static_cast<Action>(numbers[i]), numbers[i + 1], numbers[i + 2]});
  return schedule;
}

void setSchedule(ModuleOp module, ArrayRef<ScheduledAction> schedule) {
  SmallVector<int64_t> numbers;
  for (const ScheduledAction &each : schedule)
    numbers.append({static_cast<int64_t>(each.action), each.microBatch, each.chunk});
  module->setAttr(kSchedule, DenseI64ArrayAttr::get(module.getContext(), numbers));
}

int64_t microBatchesOf(func::FuncOp step) {
  int64_t count = 1;
  for (auto accumulate : step.getBody().front().getOps<AccumulateOp>())
    count = std::max(count, static_cast<int64_t>(accumulate.getCount()));
  for (const ScheduledAction &each : scheduleOf(step->getParentOfType<ModuleOp>()))
    count = std::max(count, each.microBatch + 1);
  return count;
}

// -- parts ----------------------------------------------------------------------------------------

std::strong_ordering StagePart::operator<=>(const StagePart &other) const {
  // Place in the step, and the chunks in the order of that place.
  auto key = [](const StagePart &part) {
    const bool isForward = part.kind == Kind::Forward, isOnce = !part.isPerMicroBatch();
    return std::tuple(isForward ? 0
                      : isOnce  ? 2
                                : 1,
                      isForward ? part.chunk : -part.chunk, static_cast<int>(part.kind));
  };
  return key(*this) <=> key(other);
}

namespace {

using Kind = StagePart::Kind;

// Finds the parts of what runs once per micro-batch in a stage.
class PartFinder {
public:
  PartFinder(func::FuncOp step, const Stage &stage, const llvm::DenseSet<Operation *> &repeated)
      : step_(step), body_(step.getBody().front()), repeated_(repeated), chunks_(stage.chunks) {
    for (const ScheduledAction &each : scheduleOf(step->getParentOfType<ModuleOp>())) {
      hasRecompute_ |= each.action == Action::Recompute;
      hasWeights_ |= each.action == Action::Weights;
    }
  }

  llvm::DenseMap<Operation *, StagePart> run() {
    const auto count = static_cast<int64_t>(chunks_.size());
    for (int64_t chunk = 0; chunk < count; ++chunk)
      claim(sentFrom(Passed::Forward, chunk), {Kind::Forward, chunk});
    placeRest(resultsOfForward(), Kind::Forward);
    for (int64_t chunk = count; chunk-- > 0;)
      claim(sentFrom(Passed::Backward, chunk), {Kind::Backward, chunk});
    SmallVector<Operation *> sums(body_.getOps<AccumulateOp>());
    placeRest(sums, hasWeights_ ? Kind::Weights : Kind::Backward);
    if (hasRecompute_)
      separateRecomputed();
    return std::move(parts_);
  }

private:
  int64_t numberOf(int64_t chunk) const { return llvm::find(chunks_, chunk) - chunks_.begin(); }

  // The ops that make what a chunk passes to other chunks, also of this stage.
  SmallVector<Operation *> sentFrom(Passed passed, int64_t chunk) {
    SmallVector<Operation *> makers;
    auto add = [&](Value value) {
      if (Operation *maker = value.getDefiningOp())
        makers.push_back(maker);
    };
    for (unsigned i = 0; i < step_.getNumResults(); ++i)
      if (sentWhen(step_, i) == passed && sendingChunk(step_, i) == chunk)
        add(body_.getTerminator()->getOperand(i));
    for (auto transfer : body_.getOps<TransferOp>())
      if (!isRecomputed(transfer) &&
          (transfer.getFrom() < transfer.getTo()) == (passed == Passed::Forward) &&
          numberOf(static_cast<int64_t>(transfer.getFrom())) == chunk)
        add(transfer.getOperand());
    return makers;
  }

  // The ops that make losses, and states that a micro-batch replaces.
  SmallVector<Operation *> resultsOfForward() {
    SmallVector<Operation *> makers;
    for (unsigned i = 0; i < step_.getNumResults(); ++i)
      if (Operation *maker = body_.getTerminator()->getOperand(i).getDefiningOp();
          maker &&
          (resultRole(step_, i) == Role::Loss || isReplacedPerMicroBatch(step_, i, repeated_)))
        makers.push_back(maker);
    return makers;
  }

  // The ops without a part on which these depend, themselves included, also by way of ops that run
  // once per step.
  llvm::DenseSet<Operation *> dependences(ArrayRef<Operation *> of) const {
    llvm::DenseSet<Operation *> found, seen;
    SmallVector<Operation *> work(of);
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      if (parts_.contains(op) || !seen.insert(op).second)
        continue;
      if (repeated_.contains(op))
        found.insert(op);
      for (Value operand : op->getOperands())
        if (Operation *maker = operand.getDefiningOp())
          work.push_back(maker);
    }
    return found;
  }

  void claim(ArrayRef<Operation *> ops, StagePart part) {
    for (Operation *op : dependences(ops))
      parts_[op] = part;
  }

  // The first part of this kind in which an op can run.
  StagePart earliest(Operation *op, Kind kind) const {
    StagePart part = kind == Kind::Forward
                         ? StagePart{kind, 0}
                         : StagePart{kind, static_cast<int64_t>(chunks_.size()) - 1};
    for (Value operand : op->getOperands()) {
      StagePart made;
      if (auto argument = dyn_cast<BlockArgument>(operand)) {
        const auto passed = receivedWhen(step_, argument.getArgNumber());
        if (!passed || *passed == Passed::Update)
          continue;
        made.kind = *passed == Passed::Forward ? Kind::Forward : kind;
        made.chunk = receivingChunk(step_, argument.getArgNumber());
      } else if (auto it = parts_.find(operand.getDefiningOp()); it != parts_.end()) {
        made = it->second;
      } else {
        continue;
      }
      made.kind = kind;
      part = std::max(part, made);
    }
    return part;
  }

  // Places these ops as early as possible, and what only they need as late as possible.
  void placeRest(ArrayRef<Operation *> ops, Kind kind) {
    const llvm::DenseSet<Operation *> rest = dependences(ops);
    const llvm::SmallPtrSet<Operation *, 16> ends(ops.begin(), ops.end());
    for (Operation &op : body_.without_terminator())
      if (rest.contains(&op))
        parts_[&op] = earliest(&op, kind);
    for (Operation &op : llvm::reverse(body_.without_terminator())) {
      if (!rest.contains(&op) || ends.contains(&op))
        continue;
      std::optional<StagePart> latest;
      for (Operation *user : op.getUsers())
        if (auto it = parts_.find(user); it != parts_.end())
          latest = std::min(latest.value_or(it->second), it->second);
      if (latest)
        parts_[&op] = *latest;
    }
  }

  void separateRecomputed() {
    auto needsNoGradient = [&](Value operand) {
      Operation *maker = operand.getDefiningOp();
      if (!maker)
        return receivedWhen(step_, cast<BlockArgument>(operand).getArgNumber()) != Passed::Backward;
      auto it = parts_.find(maker);
      return it == parts_.end() || it->second.kind <= Kind::Recompute;
    };
    for (Operation &op : body_.without_terminator())
      if (auto it = parts_.find(&op); it != parts_.end() && it->second.kind > Kind::Recompute &&
                                      isRecomputed(&op) &&
                                      llvm::all_of(op.getOperands(), needsNoGradient))
        it->second.kind = Kind::Recompute;
  }

  func::FuncOp step_;
  Block &body_;
  const llvm::DenseSet<Operation *> &repeated_;
  std::vector<int64_t> chunks_;
  bool hasRecompute_ = false, hasWeights_ = false;
  llvm::DenseMap<Operation *, StagePart> parts_;
};

} // namespace

// The ops that depend on messages of the update.
static llvm::DenseSet<Operation *> lateOps(func::FuncOp step) {
  llvm::DenseSet<Value> late;
  llvm::DenseSet<Operation *> ops;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (receivedWhen(step, i) == Passed::Update)
      late.insert(step.getArgument(i));
  for (Operation &op : step.getBody().front().without_terminator())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return late.contains(operand); })) {
      late.insert(op.result_begin(), op.result_end());
      ops.insert(&op);
    }
  return ops;
}

llvm::DenseMap<Operation *, StagePart> partsOf(func::FuncOp step) {
  const std::optional<Stage> stage = stageOf(step);
  const llvm::DenseSet<Operation *> late = lateOps(step);
  Block &body = step.getBody().front();
  llvm::DenseSet<Operation *> repeated = perMicroBatch(step);
  if (stage && body.getOps<AccumulateOp>().empty()) // an evaluation, of one micro-batch
    for (Operation &op : body.without_terminator())
      if (!late.contains(&op))
        repeated.insert(&op);
  llvm::DenseMap<Operation *, StagePart> parts;
  if (stage)
    parts = PartFinder(step, *stage, repeated).run();
  for (Operation &op : body.without_terminator())
    if (late.contains(&op) || !repeated.contains(&op))
      parts[&op] = {stage && !late.contains(&op) ? Kind::Reduce : Kind::Update, 0};
    else if (!stage)
      parts[&op] = {Kind::Forward, 0};
    else
      parts.try_emplace(&op, StagePart{Kind::Backward, 0});
  return parts;
}

} // namespace cleave::graph
