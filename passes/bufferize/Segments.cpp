// Adds the segments in the order in which they run, and sets their schedule.
#include "passes/bufferize/Segments.h"

using namespace mlir;

namespace cleave::bufferize {

using PartKind = graph::StagePart::Kind;

void StepSegments::add() {
  begin_ = order_.microBatches() > 1 ? program_.addSegment("begin") : program::SegmentOp();
  if (order_.isStage())
    addStageParts();
  else
    parts_[graph::StagePart()] = program_.addSegment("micro");
  const bool anyUpdate = llvm::any_of(order_.ops().drop_back(), [&](Operation *op) {
    return !order_.partOf(op).isPerMicroBatch();
  });
  update_ = anyUpdate || order_.isStage() ? program_.addSegment("update") : first();
}

void StepSegments::addReceive(graph::Passed passed, int64_t chunk) {
  func::FuncOp step = order_.step();
  auto isReceived = [&](unsigned i) {
    return graph::receivedWhen(step, i) == passed && graph::receivingChunk(step, i) == chunk;
  };
  const graph::Action action = passed == graph::Passed::Forward ? graph::Action::ReceiveForward
                                                                : graph::Action::ReceiveBackward;
  if (llvm::any_of(llvm::seq(step.getNumArguments()), isReceived))
    receive_[{passed, chunk}] = program_.addSegment(graph::nameOf(action, chunk));
}

void StepSegments::addSend(graph::Passed passed, int64_t chunk) {
  func::FuncOp step = order_.step();
  auto isSent = [&](unsigned i) {
    return graph::sentWhen(step, i) == passed && graph::sendingChunk(step, i) == chunk;
  };
  const graph::Action action =
      passed == graph::Passed::Forward ? graph::Action::SendForward : graph::Action::SendBackward;
  if (llvm::any_of(llvm::seq(step.getNumResults()), isSent))
    send_[{passed, chunk}] = program_.addSegment(graph::nameOf(action, chunk));
}

void StepSegments::addStageParts() {
  const auto chunks = static_cast<int64_t>(graph::stageOf(order_.step())->chunks.size());
  auto addPart = [&](PartKind kind, graph::Action action, int64_t chunk) {
    parts_[{kind, chunk}] = program_.addSegment(graph::nameOf(action, chunk));
  };
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    addReceive(graph::Passed::Forward, chunk);
    addPart(PartKind::Forward, graph::Action::Forward, chunk);
    addSend(graph::Passed::Forward, chunk);
  }
  const std::vector<graph::ScheduledAction> schedule =
      graph::scheduleOf(order_.step()->getParentOfType<ModuleOp>());
  auto isScheduled = [&](graph::Action action) {
    return llvm::any_of(schedule, [&](const auto &each) { return each.action == action; });
  };
  for (int64_t chunk = chunks; chunk-- > 0;) {
    addReceive(graph::Passed::Backward, chunk);
    if (isScheduled(graph::Action::Recompute))
      addPart(PartKind::Recompute, graph::Action::Recompute, chunk);
    addPart(PartKind::Backward, graph::Action::Backward, chunk);
    addSend(graph::Passed::Backward, chunk);
    if (isScheduled(graph::Action::Weights))
      addPart(PartKind::Weights, graph::Action::Weights, chunk);
  }
}

program::SegmentOp StepSegments::of(Operation *op) const {
  const graph::StagePart part = order_.partOf(op);
  return part.isPerMicroBatch() ? parts_.at(part) : update_;
}

void StepSegments::setSchedule() {
  SmallVector<int64_t> schedule;
  SmallVector<program::SegmentOp> segments(
      program_.program().getBody().front().getOps<program::SegmentOp>());
  auto numberOf = [&](program::SegmentOp segment) {
    return static_cast<int64_t>(llvm::find(segments, segment) - segments.begin());
  };
  const bool isJoined = update_ == first(); // nothing runs once per step
  if (begin_)
    schedule.append({numberOf(begin_), 0});
  for (int64_t slot = 0; slot < order_.microBatches(); ++slot)
    for (program::SegmentOp segment : segments)
      if (segment != begin_ && (segment != update_ || isJoined))
        schedule.append({numberOf(segment), slot});
  if (!isJoined)
    schedule.append({numberOf(update_), 0});
  program_.program().setSchedule(schedule);
}

} // namespace cleave::bufferize
