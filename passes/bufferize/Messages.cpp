// Messages between the stages of a pipeline (dialects/graph/Messages.h): segments in which they are
// passed, and the order of those of the update.
#include "dialects/graph/Messages.h"
#include "dialects/graph/MicroBatches.h"
#include "passes/bufferize/StepLowering.h"

#include <map>
#include <utility>

using namespace mlir;

namespace cleave::bufferize {

using graph::Passed;
using Kind = graph::StagePart::Kind;

LogicalResult StepLowering::checkStage() {
  for (auto [i, value] : llvm::enumerate(order_.back()->getOperands())) {
    Operation *maker = value.getDefiningOp();
    if (graph::sentWhen(step_, i) == Passed::Update && maker &&
        parts_.lookup(maker).kind == Kind::Update)
      return maker->emitOpError("computes a message of the update from another one; a step has one "
                                "exchange between its stages; train this model without --stages");
  }
  // The forward part of a later micro-batch has replaced the state when another part runs.
  for (unsigned i = 0; microBatches_ > 1 && i < step_.getNumResults(); ++i) {
    if (!graph::isReplacedPerMicroBatch(step_, i, repeated_))
      continue;
    const unsigned argument = *graph::aliasOf(step_, i);
    if (isReadBehindForward(step_.getArgument(argument)))
      return emitError(step_.getArgument(argument).getLoc())
             << "the backward part of a stage reads the state '" << graph::argName(step_, argument)
             << "', but each forward part replaces it; train this model without --stages";
  }
  return success();
}

bool StepLowering::isReadBehindForward(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    const graph::StagePart part = parts_.lookup(user);
    return (part.kind != Kind::Forward && part.isPerMicroBatch()) ||
           (isAliasing(user) && isReadBehindForward(user->getResult(0)));
  });
}

void StepLowering::addMicroSegments() {
  const auto chunks = static_cast<int64_t>(graph::stageOf(step_)->chunks.size());
  auto add = [&](graph::Action action, int64_t chunk) {
    return program_.addSegment(graph::nameOf(action, chunk));
  };
  auto addMessages = [&](auto &segments, Passed passed, graph::Action action, int64_t chunk,
                         unsigned count, auto isPassed) {
    if (llvm::any_of(llvm::seq(count), isPassed))
      segments[{passed, chunk}] = add(action, chunk);
  };
  auto addReceive = [&](Passed passed, graph::Action action, int64_t chunk) {
    addMessages(receive_, passed, action, chunk, step_.getNumArguments(), [&](unsigned i) {
      return graph::receivedWhen(step_, i) == passed && graph::receivingChunk(step_, i) == chunk;
    });
  };
  auto addSend = [&](Passed passed, graph::Action action, int64_t chunk) {
    addMessages(send_, passed, action, chunk, step_.getNumResults(), [&](unsigned i) {
      return graph::sentWhen(step_, i) == passed && graph::sendingChunk(step_, i) == chunk;
    });
  };
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    addReceive(Passed::Forward, graph::Action::ReceiveForward, chunk);
    segments_[{Kind::Forward, chunk}] = add(graph::Action::Forward, chunk);
    addSend(Passed::Forward, graph::Action::SendForward, chunk);
  }
  const std::vector<graph::ScheduledAction> schedule =
      graph::scheduleOf(step_->getParentOfType<ModuleOp>());
  auto isScheduled = [&](graph::Action action) {
    return llvm::any_of(schedule, [&](const auto &each) { return each.action == action; });
  };
  for (int64_t chunk = chunks; chunk-- > 0;) {
    addReceive(Passed::Backward, graph::Action::ReceiveBackward, chunk);
    if (isScheduled(graph::Action::Recompute))
      segments_[{Kind::Recompute, chunk}] = add(graph::Action::Recompute, chunk);
    segments_[{Kind::Backward, chunk}] = add(graph::Action::Backward, chunk);
    addSend(Passed::Backward, graph::Action::SendBackward, chunk);
    if (isScheduled(graph::Action::Weights))
      segments_[{Kind::Weights, chunk}] = add(graph::Action::Weights, chunk);
  }
}

int64_t StepLowering::stageAxis() const {
  auto at =
      llvm::find_if(mesh_.axes, [](const MeshAxis &axis) { return axis.name == mesh::kStages; });
  return at == mesh_.axes.end() ? 0 : at - mesh_.axes.begin(); // not known before ranks are
}

void StepLowering::addReceived(Passed passed, int64_t chunk,
                               llvm::function_ref<bool(int64_t)> isPeer) {
  std::map<int64_t, SmallVector<Value>> buffers; // by peer
  for (auto [i, argument] : llvm::enumerate(step_.getArguments()))
    if (graph::receivedWhen(step_, i) == passed && graph::receivingChunk(step_, i) == chunk)
      buffers[graph::senderOf(step_, i)].push_back(views_[argument].buffer);
  OpBuilder &b = program_.builder();
  for (const auto &[peer, received] : buffers)
    if (isPeer(peer))
      program_.add<program::RecvOp>(b.getI64IntegerAttr(stageAxis()), b.getI64IntegerAttr(peer),
                                    received);
}

void StepLowering::addSent(Passed passed, int64_t chunk) {
  std::map<int64_t, SmallVector<Value>> buffers; // by peer
  for (auto [i, value] : llvm::enumerate(order_.back()->getOperands()))
    if (graph::sentWhen(step_, i) == passed && graph::sendingChunk(step_, i) == chunk)
      buffers[graph::receiverOf(step_, i)].push_back(wholeViewOf(value).buffer);
  OpBuilder &b = program_.builder();
  for (const auto &[peer, sent] : buffers)
    program_.add<program::SendOp>(b.getI64IntegerAttr(stageAxis()), b.getI64IntegerAttr(peer),
                                  sent);
}

void StepLowering::addMessages() {
  for (auto &[when, segment] : receive_) {
    program_.setSegment(segment);
    addReceived(when.first, when.second, [](int64_t) { return true; });
  }
  for (auto &[when, segment] : send_) {
    program_.setSegment(segment);
    addSent(when.first, when.second);
  }
  exchange();
}

// Every stage passes its messages in the order of (sender, receiver), so that none waits forever.
void StepLowering::exchange() {
  if (std::exchange(hasExchanged_, true))
    return;
  const int64_t stage = graph::stageOf(step_)->index;
  program_.setSegment(update_);
  addReceived(Passed::Update, 0, [&](int64_t peer) { return peer < stage; });
  addSent(Passed::Update, 0);
  addReceived(Passed::Update, 0, [&](int64_t peer) { return peer > stage; });
}

} // namespace cleave::bufferize
