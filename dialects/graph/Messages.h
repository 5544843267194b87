// Messages: the arguments and results of a step that is one stage of a pipeline. An argument of the
// role "received" is a value of another stage, a result of the role "sent" a value for one. Both
// have
//   graph.message = "forward" | "backward" | "update"   when the value is passed (Passed)
//   graph.peer = 1 : i64                                the other stage
// and, at both ends, the same graph.name. A stage that is planned after the one at the other end
// also has
//   graph.layout = [[0], []]         per dim the mesh axes that split the value
//   graph.samples = array<i64: 0>    the dims that run over samples
//   graph.positions = array<i64: 1>  the dims that run over positions of sequences
// Axes are counted without that of the stages.
#pragma once

#include "dialects/graph/Step.h"
#include "dialects/interfaces/Sharding.h"

namespace cleave::graph {

// The attributes.
inline constexpr llvm::StringLiteral kMessage = "graph.message";
inline constexpr llvm::StringLiteral kPeer = "graph.peer";

// When a value is passed: after the forward or the backward part of a micro-batch, or once per step
// when all micro-batches are done.
enum class Passed { Forward, Backward, Update };
llvm::StringRef nameOf(Passed passed);
// The inverse; none if the attribute, which may be null, is not one of the names.
std::optional<Passed> passedNamed(mlir::Attribute name);

// When argument i is received, or result i sent; none if it is not a message.
std::optional<Passed> receivedWhen(mlir::func::FuncOp step, unsigned i);
std::optional<Passed> sentWhen(mlir::func::FuncOp step, unsigned i);
// The stage at the other end of received argument i, or of sent result i.
int64_t senderOf(mlir::func::FuncOp step, unsigned i);
int64_t receiverOf(mlir::func::FuncOp step, unsigned i);

// What the other end of a message has decided.
inline constexpr llvm::StringLiteral kLayout = "graph.layout";
inline constexpr llvm::StringLiteral kSamples = "graph.samples";
inline constexpr llvm::StringLiteral kPositions = "graph.positions";

// The other end of a message, as an attribute and as a struct.
struct MessageEnd {
  Sharding layout;
  std::vector<int> samples, positions; // dims
};
// Puts it on argument i, or on result i.
void setReceived(mlir::func::FuncOp step, unsigned i, const MessageEnd &end);
void setSent(mlir::func::FuncOp step, unsigned i, const MessageEnd &end);
// None: the argument or result is no message, or the other end has not decided.
std::optional<MessageEnd> receivedFrom(mlir::func::FuncOp step, unsigned i);
std::optional<MessageEnd> sentTo(mlir::func::FuncOp step, unsigned i);

// One stage of a pipeline.
struct Stage {
  int64_t index = 0; // from 0
  int64_t count = 1; // of the pipeline
};

// graph.stage = [index, count], on the module of the step; none if the step is not a stage.
inline constexpr llvm::StringLiteral kStage = "graph.stage";
std::optional<Stage> stageOf(mlir::func::FuncOp step);
void setStage(mlir::ModuleOp module, const Stage &stage);
bool isStage(mlir::func::FuncOp step);

// The steps in which a stage processes one micro-batch, in order.
enum class Action {
  ReceiveForward,
  Forward,
  SendForward,
  ReceiveBackward,
  Backward,
  SendBackward,
};
inline constexpr int64_t kActions = 6;
// `forward`, `send forward`, …
llvm::StringRef nameOf(Action action);

// An action on a micro-batch.
struct ScheduledAction {
  Action action = Action::Forward;
  int64_t microBatch = 0;
};

// graph.schedule = [1, 0, …], on the module of a stage: pairs of action and micro-batch, in the
// order in which the stage runs them. Without it, micro-batches run one after the other.
inline constexpr llvm::StringLiteral kSchedule = "graph.schedule";
std::vector<ScheduledAction> scheduleOf(mlir::ModuleOp module);
void setSchedule(mlir::ModuleOp module, llvm::ArrayRef<ScheduledAction> schedule);

// The micro-batches of a step: those that its accumulate ops count, or that the schedule of a stage
// runs; 1 if it has neither.
int64_t microBatchesOf(mlir::func::FuncOp step);

// The parts of a step, in the order in which they run. A step that is not a stage has Forward, for
// all that runs once per micro-batch, and Update.
enum class StagePart {
  Forward,  // of a micro-batch: forward messages, losses, and the states that it replaces
  Backward, // of a micro-batch: the rest
  Reduce,   // once per step, before messages of the update arrive
  Update,   // once per step
};

// The part of each op of the step.
llvm::DenseMap<mlir::Operation *, StagePart> partsOf(mlir::func::FuncOp step);

} // namespace cleave::graph
