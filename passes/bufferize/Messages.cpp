// Messages between the stages of a pipeline (dialects/graph/Messages.h): segments in which they are
// passed, and the order of those of the update.
#include "dialects/graph/MicroBatches.h"
#include "passes/bufferize/StepLowering.h"

#include <map>
#include <utility>

using namespace mlir;

namespace cleave::bufferize {

using graph::Passed;

LogicalResult StepLowering::checkStage() {
  for (auto [i, value] : llvm::enumerate(order_.back()->getOperands())) {
    Operation *maker = value.getDefiningOp();
    if (graph::sentWhen(step_, i) == Passed::Update && maker &&
        parts_.lookup(maker) == graph::StagePart::Update)
      return maker->emitOpError("computes a message of the update from another one; a step has one "
                                "exchange between its stages; train this model without --stages");
  }
  // The forward part of a later micro-batch has replaced the state when the backward part runs.
  for (unsigned i = 0; microBatches_ > 1 && i < step_.getNumResults(); ++i) {
    if (!graph::isReplacedPerMicroBatch(step_, i, repeated_))
      continue;
    const unsigned argument = *graph::aliasOf(step_, i);
    if (isReadIn(step_.getArgument(argument), graph::StagePart::Backward))
      return emitError(step_.getArgument(argument).getLoc())
             << "the backward part of a stage reads the state '" << graph::argName(step_, argument)
             << "', but each forward part replaces it; train this model without --stages";
  }
  return success();
}

bool StepLowering::isReadIn(Value value, graph::StagePart part) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return parts_.lookup(user) == part || (isAliasing(user) && isReadIn(user->getResult(0), part));
  });
}

void StepLowering::addMicroSegments() {
  auto addIf = [&](bool isAny, std::map<Passed, program::SegmentOp> &segments, Passed passed,
                   graph::Action action) {
    if (isAny)
      segments[passed] = program_.addSegment(graph::nameOf(action));
  };
  auto receives = [&](Passed passed) {
    return llvm::any_of(llvm::seq(step_.getNumArguments()),
                        [&](unsigned i) { return graph::receivedWhen(step_, i) == passed; });
  };
  auto sends = [&](Passed passed) {
    return llvm::any_of(llvm::seq(step_.getNumResults()),
                        [&](unsigned i) { return graph::sentWhen(step_, i) == passed; });
  };
  addIf(receives(Passed::Forward), receive_, Passed::Forward, graph::Action::ReceiveForward);
  forward_ = program_.addSegment(graph::nameOf(graph::Action::Forward));
  addIf(sends(Passed::Forward), send_, Passed::Forward, graph::Action::SendForward);
  addIf(receives(Passed::Backward), receive_, Passed::Backward, graph::Action::ReceiveBackward);
  backward_ = program_.addSegment(graph::nameOf(graph::Action::Backward));
  addIf(sends(Passed::Backward), send_, Passed::Backward, graph::Action::SendBackward);
}

int64_t StepLowering::stageAxis() const {
  auto at =
      llvm::find_if(mesh_.axes, [](const MeshAxis &axis) { return axis.name == mesh::kStages; });
  return at == mesh_.axes.end() ? 0 : at - mesh_.axes.begin(); // not known before ranks are
}

void StepLowering::addReceived(Passed passed, llvm::function_ref<bool(int64_t)> isPeer) {
  std::map<int64_t, SmallVector<Value>> buffers; // by peer
  for (auto [i, argument] : llvm::enumerate(step_.getArguments()))
    if (graph::receivedWhen(step_, i) == passed)
      buffers[graph::senderOf(step_, i)].push_back(views_[argument].buffer);
  OpBuilder &b = program_.builder();
  for (const auto &[peer, received] : buffers)
    if (isPeer(peer))
      program_.add<program::RecvOp>(b.getI64IntegerAttr(stageAxis()), b.getI64IntegerAttr(peer),
                                    received);
}

void StepLowering::addSent(Passed passed) {
  std::map<int64_t, SmallVector<Value>> buffers; // by peer
  for (auto [i, value] : llvm::enumerate(order_.back()->getOperands()))
    if (graph::sentWhen(step_, i) == passed)
      buffers[graph::receiverOf(step_, i)].push_back(wholeViewOf(value).buffer);
  OpBuilder &b = program_.builder();
  for (const auto &[peer, sent] : buffers)
    program_.add<program::SendOp>(b.getI64IntegerAttr(stageAxis()), b.getI64IntegerAttr(peer),
                                  sent);
}

void StepLowering::addMessages() {
  for (auto &[passed, segment] : receive_) {
    program_.setSegment(segment);
    addReceived(passed, [](int64_t) { return true; });
  }
  for (auto &[passed, segment] : send_) {
    program_.setSegment(segment);
    addSent(passed);
  }
  exchange();
}

// Every stage passes its messages in the order of (sender, receiver), so that none waits forever.
void StepLowering::exchange() {
  if (std::exchange(hasExchanged_, true))
    return;
  const int64_t stage = graph::stageOf(step_)->index;
  program_.setSegment(update_);
  addReceived(Passed::Update, [&](int64_t peer) { return peer < stage; });
  addSent(Passed::Update);
  addReceived(Passed::Update, [&](int64_t peer) { return peer > stage; });
}

} // namespace cleave::bufferize
