// Stage: a stage of a pipeline as a step, the order in which it runs its micro-batches, and the
// parts of its step.
//
// The model is cut into chunks, which are numbered in the order of the forward pass. A stage holds
// one or several of them, and passes messages (Messages.h) to others.
#pragma once

#include "dialects/graph/Step.h"

#include <compare>

namespace cleave::graph {

// One stage of a pipeline.
struct Stage {
  int64_t index = 0;           // from 0
  int64_t count = 1;           // of the pipeline
  std::vector<int64_t> chunks; // of the model that it holds, in rising order
};

// graph.stage = [index, count, chunk, …], on the module of the step; none if the step is not a
// stage.
inline constexpr llvm::StringLiteral kStage = "graph.stage";
std::optional<Stage> stageOf(mlir::func::FuncOp step);
void setStage(mlir::ModuleOp module, const Stage &stage);
bool isStage(mlir::func::FuncOp step);

// The work of a stage on a micro-batch in one of its chunks.
enum class Action {
  ReceiveForward,
  Forward,
  SendForward,
  ReceiveBackward,
  Recompute, // of forward ops for the backward part
  Backward,  // with Weights: the gradients that the chunk before needs
  SendBackward,
  Weights, // the rest of the backward pass: gradients of parameters
};
inline constexpr int64_t kActions = 8;

// An action on a micro-batch, in a chunk by its number in the stage.
struct ScheduledAction {
  Action action = Action::Forward;
  int64_t microBatch = 0;
  int64_t chunk = 0;
};

// `forward`, `send forward`, …; in chunks beyond the first with their number: `forward 1`.
std::string nameOf(Action action, int64_t chunk);

// graph.schedule = [1, 0, 0, …], on the module of a stage: action, micro-batch and chunk, in the
// order in which the stage runs them. Without it, micro-batches run one after the other.
inline constexpr llvm::StringLiteral kSchedule = "graph.schedule";
std::vector<ScheduledAction> scheduleOf(mlir::ModuleOp module);
void setSchedule(mlir::ModuleOp module, llvm::ArrayRef<ScheduledAction> schedule);

// The micro-batches of a step: those that its accumulate ops count, or that the schedule of a stage
// runs; 1 if it has neither.
int64_t microBatchesOf(mlir::func::FuncOp step);

// A part of a step: ops that run one after the other.
struct StagePart {
  enum class Kind {
    Forward,   // of a micro-batch: forward messages, losses, and the states that it replaces
    Recompute, // of a micro-batch, if the schedule has it: recomputed forward ops
    Backward,  // of a micro-batch: the rest; with Weights, what messages back depend on
    Weights,   // of a micro-batch, if the schedule has it: the rest
    Reduce,    // once per step, before messages of the update arrive
    Update,    // once per step
  };
  Kind kind = Kind::Forward;
  int64_t chunk = 0; // by its number in the stage; 0 for what runs once per step

  bool isPerMicroBatch() const { return kind < Kind::Reduce; }
  // In the order of the step: forward parts in the order of chunks, the other parts of chunks from
  // the last chunk to the first.
  std::strong_ordering operator<=>(const StagePart &other) const;
  bool operator==(const StagePart &) const = default;
};

// The part of each op of the step. A step that is not a stage has Forward, for all that runs once
// per micro-batch, and Update.
llvm::DenseMap<mlir::Operation *, StagePart> partsOf(mlir::func::FuncOp step);

} // namespace cleave::graph
