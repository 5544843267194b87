// Adds the messages to their segments; the order of those of the update.
#include "passes/bufferize/Messages.h"

#include <map>
#include <utility>

using namespace mlir;

namespace cleave::bufferize {

using graph::Passed;

LogicalResult checkMessages(const StepOrder &order) {
  func::FuncOp step = order.step();
  for (auto [i, value] : llvm::enumerate(order.terminator()->getOperands())) {
    Operation *maker = value.getDefiningOp();
    if (graph::sentWhen(step, i) == Passed::Update && maker &&
        order.partOf(maker).kind == graph::StagePart::Kind::Update)
      return maker->emitOpError("computes a message of the update from another one; a step has one "
                                "exchange between its stages; train this model without --stages");
  }
  // The forward part of a later micro-batch has replaced the state when another part runs.
  for (unsigned i = 0; order.microBatches() > 1 && i < step.getNumResults(); ++i) {
    if (!order.isReplacedPerMicroBatch(i))
      continue;
    const unsigned argument = *graph::aliasOf(step, i);
    if (order.isReadBehindForward(step.getArgument(argument)))
      return emitError(step.getArgument(argument).getLoc())
             << "the backward part of a stage reads the state '" << graph::argName(step, argument)
             << "', but each forward part replaces it; train this model without --stages";
  }
  return success();
}

int64_t StageMessages::stageAxis() const {
  auto at =
      llvm::find_if(mesh_.axes, [](const MeshAxis &axis) { return axis.name == mesh::kStages; });
  return at == mesh_.axes.end() ? 0 : at - mesh_.axes.begin(); // not known before ranks are
}

void StageMessages::addReceived(Passed passed, int64_t chunk,
                                llvm::function_ref<bool(int64_t)> isPeer) {
  func::FuncOp step = order_.step();
  std::map<int64_t, SmallVector<Value>> buffers; // by peer
  for (auto [i, argument] : llvm::enumerate(step.getArguments()))
    if (graph::receivedWhen(step, i) == passed && graph::receivingChunk(step, i) == chunk)
      buffers[graph::senderOf(step, i)].push_back(views_.of(argument).buffer);
  OpBuilder &b = program_.builder();
  for (const auto &[peer, received] : buffers)
    if (isPeer(peer))
      program_.add<program::RecvOp>(b.getI64IntegerAttr(stageAxis()), b.getI64IntegerAttr(peer),
                                    received);
}

void StageMessages::addSent(Passed passed, int64_t chunk) {
  func::FuncOp step = order_.step();
  std::map<int64_t, SmallVector<Value>> buffers; // by peer
  for (auto [i, value] : llvm::enumerate(order_.terminator()->getOperands()))
    if (graph::sentWhen(step, i) == passed && graph::sendingChunk(step, i) == chunk)
      buffers[graph::receiverOf(step, i)].push_back(views_.wholeOf(value).buffer);
  OpBuilder &b = program_.builder();
  for (const auto &[peer, sent] : buffers)
    program_.add<program::SendOp>(b.getI64IntegerAttr(stageAxis()), b.getI64IntegerAttr(peer),
                                  sent);
}

void StageMessages::add() {
  for (const auto &[when, segment] : segments_.receiving()) {
    program_.setSegment(segment);
    addReceived(when.first, when.second, [](int64_t) { return true; });
  }
  for (const auto &[when, segment] : segments_.sending()) {
    program_.setSegment(segment);
    addSent(when.first, when.second);
  }
  exchange();
}

// Every stage passes its messages in the order of (sender, receiver), so that none waits forever.
void StageMessages::exchange() {
  if (std::exchange(hasExchanged_, true))
    return;
  const int64_t stage = graph::stageOf(order_.step())->index;
  program_.setSegment(segments_.update());
  addReceived(Passed::Update, 0, [&](int64_t peer) { return peer < stage; });
  addSent(Passed::Update, 0);
  addReceived(Passed::Update, 0, [&](int64_t peer) { return peer > stage; });
}

} // namespace cleave::bufferize
