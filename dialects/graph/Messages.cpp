// See Messages.h.
#include "dialects/graph/Messages.h"

#include "dialects/graph/MicroBatches.h"

using namespace mlir;

namespace cleave::graph {

StringRef nameOf(Passed passed) {
  switch (passed) {
  case Passed::Forward:
    return "forward";
  case Passed::Backward:
    return "backward";
  case Passed::Update:
    return "update";
  }
  llvm_unreachable("a message is passed at one of three times");
}

std::optional<Passed> passedNamed(Attribute attribute) {
  auto name = dyn_cast_or_null<StringAttr>(attribute);
  for (Passed passed : {Passed::Forward, Passed::Backward, Passed::Update})
    if (name && name.getValue() == nameOf(passed))
      return passed;
  return std::nullopt;
}

std::optional<Passed> receivedWhen(func::FuncOp step, unsigned i) {
  return passedNamed(step.getArgAttr(i, kMessage));
}

std::optional<Passed> sentWhen(func::FuncOp step, unsigned i) {
  return passedNamed(step.getResultAttr(i, kMessage));
}

int64_t senderOf(func::FuncOp step, unsigned i) {
  return step.getArgAttrOfType<IntegerAttr>(i, kPeer).getInt();
}

int64_t receiverOf(func::FuncOp step, unsigned i) {
  return step.getResultAttrOfType<IntegerAttr>(i, kPeer).getInt();
}

// -- what the other end has decided ---------------------------------------------------------------

static NamedAttribute dimsAttr(Builder &b, StringRef name, const std::vector<int> &dims) {
  return b.getNamedAttr(name,
                        b.getDenseI64ArrayAttr(SmallVector<int64_t>(dims.begin(), dims.end())));
}

static std::vector<int> dimsOf(Attribute attribute) {
  auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
  return numbers ? std::vector<int>(numbers.asArrayRef().begin(), numbers.asArrayRef().end())
                 : std::vector<int>();
}

// The attributes of an argument or result with those of the other end.
static DictionaryAttr withEnd(DictionaryAttr before, const MessageEnd &end, MLIRContext *context) {
  Builder b(context);
  SmallVector<Attribute> layout;
  for (const std::vector<int> &axes : end.layout.dims)
    layout.push_back(dimsAttr(b, kLayout, axes).getValue());
  NamedAttrList attributes(before);
  attributes.set(kLayout, b.getArrayAttr(layout));
  for (NamedAttribute dims :
       {dimsAttr(b, kSamples, end.samples), dimsAttr(b, kPositions, end.positions)})
    attributes.set(dims.getName(), dims.getValue());
  return attributes.getDictionary(context);
}

static std::optional<MessageEnd> endOf(DictionaryAttr attributes) {
  auto layout = attributes ? attributes.getAs<ArrayAttr>(kLayout) : nullptr;
  if (!layout)
    return std::nullopt;
  MessageEnd end;
  for (Attribute axes : layout)
    end.layout.dims.push_back(dimsOf(axes));
  end.samples = dimsOf(attributes.get(kSamples));
  end.positions = dimsOf(attributes.get(kPositions));
  return end;
}

void setReceived(func::FuncOp step, unsigned i, const MessageEnd &end) {
  step.setArgAttrs(i, withEnd(step.getArgAttrDict(i), end, step.getContext()));
}

void setSent(func::FuncOp step, unsigned i, const MessageEnd &end) {
  step.setResultAttrs(i, withEnd(step.getResultAttrDict(i), end, step.getContext()));
}

std::optional<MessageEnd> receivedFrom(func::FuncOp step, unsigned i) {
  return endOf(step.getArgAttrDict(i));
}

std::optional<MessageEnd> sentTo(func::FuncOp step, unsigned i) {
  return endOf(step.getResultAttrDict(i));
}

// -- stages and actions ---------------------------------------------------------------------------

std::optional<Stage> stageOf(func::FuncOp step) {
  auto numbers = step->getParentOfType<ModuleOp>()->getAttrOfType<DenseI64ArrayAttr>(kStage);
  return numbers ? std::optional<Stage>({numbers[0], numbers[1]}) : std::nullopt;
}

void setStage(ModuleOp module, const Stage &stage) {
  module->setAttr(kStage, DenseI64ArrayAttr::get(module.getContext(), {stage.index, stage.count}));
}

bool isStage(func::FuncOp step) { return stageOf(step).has_value(); }

StringRef nameOf(Action action) {
  static constexpr StringRef kNames[] = {"receive forward",  "forward",  "send forward",
                                         "receive backward", "backward", "send backward"};
  return kNames[static_cast<int>(action)];
}

std::vector<ScheduledAction> scheduleOf(ModuleOp module) {
  std::vector<ScheduledAction> schedule;
  if (auto numbers = module->getAttrOfType<DenseI64ArrayAttr>(kSchedule))
    for (int64_t i = 0; i + 1 < numbers.size(); i += 2)
      schedule.push_back({static_cast<Action>(numbers[i]), numbers[i + 1]});
  return schedule;
}

void setSchedule(ModuleOp module, ArrayRef<ScheduledAction> schedule) {
  SmallVector<int64_t> numbers;
  for (const ScheduledAction &each : schedule)
    numbers.append({static_cast<int64_t>(each.action), each.microBatch});
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

// The ops of `repeated` on which forward messages, losses, or states that a micro-batch replaces
// depend.
static llvm::DenseSet<Operation *> forwardOps(func::FuncOp step,
                                              const llvm::DenseSet<Operation *> &repeated) {
  llvm::DenseSet<Operation *> forward;
  Operation *end = step.getBody().front().getTerminator();
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (Operation *maker = end->getOperand(i).getDefiningOp();
        maker && (sentWhen(step, i) == Passed::Forward || resultRole(step, i) == Role::Loss ||
                  isReplacedPerMicroBatch(step, i, repeated)))
      forward.insert(maker);
  for (Operation &op : llvm::reverse(step.getBody().front().without_terminator()))
    if (forward.contains(&op))
      for (Value operand : op.getOperands())
        if (Operation *maker = operand.getDefiningOp())
          forward.insert(maker);
  return forward;
}

llvm::DenseMap<Operation *, StagePart> partsOf(func::FuncOp step) {
  const llvm::DenseSet<Operation *> repeated = perMicroBatch(step);
  const bool isInPipeline = isStage(step);
  llvm::DenseSet<Operation *> forward;
  if (isInPipeline)
    forward = forwardOps(step, repeated);
  llvm::DenseSet<Value> late; // what depends on messages of the update
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (receivedWhen(step, i) == Passed::Update)
      late.insert(step.getArgument(i));
  llvm::DenseMap<Operation *, StagePart> parts;
  for (Operation &op : step.getBody().front().without_terminator()) {
    const bool isLate =
        llvm::any_of(op.getOperands(), [&](Value operand) { return late.contains(operand); });
    if (isLate)
      late.insert(op.result_begin(), op.result_end());
    parts[&op] =
        repeated.contains(&op)
            ? !isInPipeline || forward.contains(&op) ? StagePart::Forward : StagePart::Backward
        : isInPipeline && !isLate ? StagePart::Reduce
                                  : StagePart::Update;
  }
  return parts;
}

} // namespace cleave::graph
