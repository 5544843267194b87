// StepSegments: the segments of a step's program, and how often and in which order they run.
//
// `begin` clears sums before several micro-batches. The parts of a micro-batch follow; in a stage
// of a pipeline, each has segments for its messages beside it. `update` runs once per step.
#pragma once

#include "dialects/graph/Messages.h"
#include "passes/bufferize/ProgramBuilder.h"
#include "passes/bufferize/StepOrder.h"

#include <map>
#include <utility>

namespace cleave::bufferize {

// The segments of messages, by when they are passed, and the chunk that receives or sends them.
using MessageSegments = std::map<std::pair<graph::Passed, int64_t>, program::SegmentOp>;

// Keeps references to the constructor's arguments.
class StepSegments {
public:
  StepSegments(const StepOrder &order, ProgramBuilder &program)
      : order_(order), program_(program) {}

  // Adds all of them to the program, in the order in which they run.
  void add();
  // Sets the schedule of the program. The slots of a stage's schedule are set later
  // (passes/schedule/Slots.h).
  void setSchedule();

  // Null with one micro-batch.
  program::SegmentOp begin() const { return begin_; }
  // The segment of the first part of a micro-batch.
  program::SegmentOp first() const { return parts_.begin()->second; }
  // first() if nothing runs once per step.
  program::SegmentOp update() const { return update_; }
  // The segments that run once per micro-batch, by part. A step that is not a stage has one.
  const std::map<graph::StagePart, program::SegmentOp> &ofParts() const { return parts_; }
  // Empty unless the step is a stage.
  const MessageSegments &receiving() const { return receive_; }
  const MessageSegments &sending() const { return send_; }

  // The segment of an op's instructions.
  program::SegmentOp of(mlir::Operation *op) const;
  // How often a step runs a segment.
  int64_t runsOf(program::SegmentOp segment) const {
    return segment == begin_ || segment == update_ ? 1 : order_.microBatches();
  }

private:
  void addStageParts();
  // Adds a segment for the messages that a chunk receives, or sends, at one time, if there are any.
  void addReceive(graph::Passed passed, int64_t chunk);
  void addSend(graph::Passed passed, int64_t chunk);

  const StepOrder &order_;
  ProgramBuilder &program_;
  program::SegmentOp begin_, update_;
  std::map<graph::StagePart, program::SegmentOp> parts_;
  MessageSegments receive_, send_;
};

} // namespace cleave::bufferize
