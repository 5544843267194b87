// StageMessages: the messages that a stage of a pipeline passes to others and receives from them
// (dialects/graph/Messages.h). A message is all values that one stage passes to another at one
// time.
#pragma once

#include "dialects/mesh/MeshDialect.h"
#include "passes/bufferize/Segments.h"
#include "passes/bufferize/ValueViews.h"

namespace cleave::bufferize {

// Fails with a diagnostic at an op or argument if the messages of the stage cannot be passed in
// the order of its parts.
mlir::LogicalResult checkMessages(const StepOrder &order);

// Keeps references to the constructor's arguments. The step is a stage.
class StageMessages {
public:
  StageMessages(const StepOrder &order, const StepSegments &segments, ProgramBuilder &program,
                const Mesh &mesh, ValueViews &views)
      : order_(order), segments_(segments), program_(program), mesh_(mesh), views_(views) {}

  // Adds the messages of the update, before the first op of the update; only the first call counts.
  void exchange();
  // Adds all other messages, and those of the update if nothing runs there.
  void add();

private:
  // Add the messages of a chunk that arrive from some peers and that leave at one time, in the
  // segment that is set.
  void addReceived(graph::Passed passed, int64_t chunk, llvm::function_ref<bool(int64_t)> isPeer);
  void addSent(graph::Passed passed, int64_t chunk);
  // The index of the mesh axis of the stages.
  int64_t stageAxis() const;

  const StepOrder &order_;
  const StepSegments &segments_;
  ProgramBuilder &program_;
  const Mesh &mesh_;
  ValueViews &views_;
  bool hasExchanged_ = false; // the messages of the update have been added
};

} // namespace cleave::bufferize
