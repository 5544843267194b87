// Messages: the arguments and results of a step that is one stage of a pipeline. An argument of the
// role "received" is a value of another stage, a result of the role "sent" a value for one. Both
// have
//   graph.message = "forward" | "backward" | "update"   when the value is passed (Passed)
//   graph.peer = 1 : i64                                the other stage
//   graph.chunk = 0 : i64                               the chunk of this stage (Stage.h) that
//                                                       reads or makes the value
// and, at both ends, the same graph.name. Before stages are planned, received values also get
//   graph.samples = array<i64: 0>    the dims that run over samples
//   graph.positions = array<i64: 1>  the dims that run over positions of sequences
// and a stage that is planned after the one at the other end has
//   graph.layout = [[0], []]         per dim the mesh axes that split the value
// Axes are counted without that of the stages.
#pragma once

#include "dialects/graph/Step.h"
#include "dialects/interfaces/Sharding.h"

namespace cleave::graph {

// The attributes.
inline constexpr llvm::StringLiteral kMessage = "graph.message";
inline constexpr llvm::StringLiteral kPeer = "graph.peer";
inline constexpr llvm::StringLiteral kChunk = "graph.chunk";

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
// The chunk that reads received argument i, or makes sent result i, by its number in this stage.
int64_t receivingChunk(mlir::func::FuncOp step, unsigned i);
int64_t sendingChunk(mlir::func::FuncOp step, unsigned i);

// Attributes for facts about a message, or about an argument that two stages store, which an
// earlier stage knows or has decided.
inline constexpr llvm::StringLiteral kLayout = "graph.layout";
inline constexpr llvm::StringLiteral kSamples = "graph.samples";
inline constexpr llvm::StringLiteral kPositions = "graph.positions";

// The dims of a message that run over samples and over positions.
struct MessageDims {
  std::vector<int> samples, positions;
  bool operator==(const MessageDims &) const = default;
};
// Sets them on received argument i. dimsOf() returns empty lists if they are not set.
void setDims(mlir::func::FuncOp step, unsigned i, const MessageDims &dims);
MessageDims dimsOf(mlir::func::FuncOp step, unsigned i);

// Puts the layout at the other end on received argument i or sent result i, or that of an earlier
// stage on argument i, which both store.
void setSenderLayout(mlir::func::FuncOp step, unsigned i, const Sharding &layout);
void setReceiverLayout(mlir::func::FuncOp step, unsigned i, const Sharding &layout);
// None: the argument or result is neither a message nor shared, or the other stage has not decided.
std::optional<Sharding> senderLayout(mlir::func::FuncOp step, unsigned i);
std::optional<Sharding> receiverLayout(mlir::func::FuncOp step, unsigned i);

} // namespace cleave::graph
