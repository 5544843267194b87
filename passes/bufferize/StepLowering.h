// StepLowering: turns the step's ops, in the order in which they run, into instructions.
//
// Layout ops (transpose, reshape, slice, reverse) become views. A result that its only reader
// copies to a known place (the dense result of a transpose, a part of a concat, an argument that it
// replaces) is written directly to that place, its destination.
#pragma once

#include "compiler/analysis/ChannelsLast.h"
#include "dialects/graph/Attention.h"
#include "dialects/graph/Away.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/Messages.h"
#include "dialects/graph/Stage.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/bufferize/ProductBias.h"
#include "passes/bufferize/ProgramBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <array>
#include <map>

namespace cleave::bufferize {

// The tensors of an attention in the order of program.attention, and their views; none for absent
// ones.
enum AttentionPlace {
  kQuery,
  kKey,
  kValue,
  kResult,
  kLse,
  kBias,
  kMask,
  kGrad,
  kQueryGrad,
  kKeyGrad,
  kValueGrad,
  kAttentionPlaces
};
using AttentionViews = std::array<std::optional<View>, kAttentionPlaces>;

// The memory of an attention beside its tensors: on CPUs scratch memory, on GPUs the library's
// workspace. Either may be null.
struct AttentionMemory {
  mlir::Value scratch = {}, workspace = {};
};

class StepLowering {
public:
  // Arguments that are shared tensors of the program have their buffers.
  StepLowering(mlir::func::FuncOp step, ProgramBuilder &program);
  // Adds all instructions; fails with a diagnostic at an op that has none.
  mlir::LogicalResult run();

  // The micro-batches of a step.
  int64_t microBatches() const { return microBatches_; }
  // How often a step runs a segment.
  int64_t runsOf(program::SegmentOp segment) const {
    return segment == begin_ || segment == update_ ? 1 : microBatches_;
  }
  // The ops in the order in which they run, the terminator last.
  llvm::ArrayRef<mlir::Operation *> order() const { return order_; }
  // The values that fill a buffer, one after the other: the first moves in when it is made, others
  // are computed in place. Values that are views of these, or lie in a part of the buffer, are left
  // out. Empty for buffers that serve a single op.
  llvm::ArrayRef<mlir::Value> tenantsOf(mlir::Value buffer) const {
    auto it = tenants_.find(buffer);
    return it == tenants_.end() ? llvm::ArrayRef<mlir::Value>() : it->second;
  }

  // The tensors whose order in memory decides what a product (operands and result) copies, or that
  // a reshape copies from or to; empty for reshapes without copies and for other ops.
  llvm::ArrayRef<cost::Strided> stridedOf(mlir::Operation *op) const {
    auto it = strided_.find(op);
    return it == strided_.end() ? llvm::ArrayRef<cost::Strided>() : it->second;
  }

private:
  // -- plan (Plan.cpp): before instructions are made --
  mlir::LogicalResult readOrder();
  void planUses();
  void planDestinations();
  void planDestination(mlir::Operation *op);
  void planGroupOperands(graph::FusionOp fusion);
  void planPad(graph::PadOp pad);
  void planReplacement(unsigned result);
  bool canWriteAnywhere(mlir::Value value) const;
  bool isAliasing(mlir::Operation *op) const;

  // -- lowering --
  void addSegments();
  void setSchedule();
  void markAway();
  mlir::LogicalResult addArguments();
  mlir::FailureOr<mlir::Value> sharedArgument(unsigned i, mlir::Type global, mlir::ArrayAttr split);
  void addLoads();
  void chooseEarlyLoads();
  mlir::LogicalResult lower(mlir::Operation *op);
  void lowerLayout(mlir::Operation *op);
  void lowerConcat(graph::ConcatOp op);
  void lowerPad(graph::PadOp op);
  void fillPadding(mlir::Operation *op);
  // The part of a pad's result that its operand fills.
  static View insidePad(graph::PadOp op, const View &whole);
  void lowerConstant(graph::ConstantOp op);
  void lowerAccumulate(graph::AccumulateOp op);
  // A buffer for the sum, cleared at the beginning of the step.
  View newSum(graph::AccumulateOp op);
  // The sum to which the product adds its result at once; null if there is none.
  graph::AccumulateOp sumOf(graph::DotGeneralOp op) const;
  void lowerFusion(graph::FusionOp op);
  // Launches, in two steps, a group that reduces long columns. Returns whether the group is one.
  bool launchInParts(graph::FusionOp op, llvm::ArrayRef<View> operands,
                     llvm::ArrayRef<View> results);
  void lowerDot(graph::DotGeneralOp op);
  // On GPUs the bias that the product may add, which is computed before the product; else null.
  std::optional<ProductBias> biasOf(graph::DotGeneralOp op);
  // A dense buffer of the elements, converted to this type.
  mlir::Value wholeBufferOf(mlir::Value value, mlir::Type element);
  mlir::LogicalResult lowerConvolution(mlir::Operation *op);
  void lowerGroupedMatmul(graph::GroupedMatmulOp op);
  void lowerGroupedWeightGrad(graph::GroupedWeightGradOp op);
  // The buffer of a scalar; null for null.
  mlir::Value scalarOf(mlir::Value scalar) { return scalar ? wholeViewOf(scalar).buffer : scalar; }
  // The view of matrices whose rows or columns are contiguous, copied if they are not.
  View groupedMatrix(mlir::Value value);
  void lowerAttention(graph::AttentionOp op);
  void lowerAttentionGrad(graph::AttentionGradOp op);
  // On GPUs a buffer of this many bytes for the library; null on CPUs and for 0 bytes.
  mlir::Value newWorkspace(int64_t bytes);
  // On GPUs set if a product of factors like this one may multiply in tf32.
  mlir::UnitAttr tf32For(const View &factor);
  // The view of a matrix of an attention, copied if the instruction does not accept it.
  View attentionMatrix(mlir::Value value);
  AttentionMemory attentionMemory(const graph::AttentionScores &scores, bool isGradient);
  // The views of query, key, value, bias and mask.
  AttentionViews attentionOperands(const graph::AttentionScores &scores);
  View newAttentionResult(graph::AttentionOp op, const View &query);
  void addAttention(const graph::AttentionScores &scores, const AttentionViews &at, bool isSafe,
                    const AttentionMemory &memory);
  // Launches a generated kernel that reads and writes any views.
  void launchOnViews(mlir::Operation *op, llvm::ArrayRef<View> results);
  void lowerDenseKernel(mlir::Operation *op);
  void lowerAllReduce(mesh::AllReduceOp op);
  void lowerAllGather(mesh::AllGatherOp op);
  void lowerReduceScatter(mesh::ReduceScatterOp op);
  void lowerAllToAll(mesh::AllToAllOp op);
  void lowerPermute(mesh::PermuteOp op);
  void lowerLocal(mlir::Operation *op);
  program::SegmentOp segmentOf(mlir::Operation *op) const;
  program::SegmentOp replacingSegment(unsigned i) const;
  void addResults();

  // -- messages between pipeline stages (Messages.cpp) --
  // A message is all values that one stage passes to another at one time.
  mlir::LogicalResult checkStage();
  // Whether an op that runs once per micro-batch, but in no forward part, reads the value or a view
  // of it.
  bool isReadBehindForward(mlir::Value value) const;
  // The segments of a micro-batch, and of its messages.
  void addMicroSegments();
  // Add the messages of a chunk that arrive from some peers and that leave at one time, in the
  // segment that is set.
  void addReceived(graph::Passed passed, int64_t chunk, llvm::function_ref<bool(int64_t)> isPeer);
  void addSent(graph::Passed passed, int64_t chunk);
  // All messages of a micro-batch.
  void addMessages();
  // The messages of the update, once.
  void exchange();
  // The index of the mesh axis of the stages.
  int64_t stageAxis() const;

  // Collectives transfer whole buffers, but for those without elements. Blocks along a dim that is
  // not the leading one are packed before and unpacked after.
  mlir::Value pack(const View &whole, int64_t dim, int64_t ranks, int64_t block);
  void unpack(mlir::Value blocks, llvm::ArrayRef<int64_t> blockShape, int64_t ranks, int64_t dim,
              const View &whole);
  void collective(program::CollectiveKind kind, mlir::ArrayAttr axes, int64_t reduce,
                  llvm::ArrayRef<mlir::Value> send, llvm::ArrayRef<mlir::Value> recv,
                  mlir::ArrayAttr toAxes = {}, mlir::UnitAttr reversed = {});
  int64_t ranksAlong(mlir::ArrayAttr axes) const;

  // The view of a value; constants with all elements equal get a buffer on first use.
  View viewOf(mlir::Value value);
  // The view of a value, copied unless it is a whole buffer with its dims in this order, from major
  // to minor; an empty order is row-major.
  View wholeViewOf(mlir::Value value, llvm::ArrayRef<int64_t> order = {});
  // The view of a value, copied if a stride is negative.
  View forwardView(mlir::Value value);
  View copyToDense(const View &view, llvm::ArrayRef<int64_t> order = {});
  // An operand of a product, copied so that its contracting dims are the last ones, in this order.
  View copyGrouped(const View &view, llvm::ArrayRef<int64_t> batch,
                   llvm::ArrayRef<int64_t> contracting);
  static bool isWhole(const View &view, llvm::ArrayRef<int64_t> order = {});
  // Whether the view has all elements of its buffer, apart from the padding of rows.
  bool hasAll(const View &view) const;
  // The view's strides as if its rows had no pitch. The planner derives copies from them.
  cost::Strided orderOf(const View &view) const;
  // The view that a result is written to: its destination, or a new buffer.
  View resultView(mlir::Value result);
  // A whole buffer in this order, to which a result is written; finishWhole() copies it to the
  // destination if that is another view, or to the order that was chosen for the result.
  View wholeResult(mlir::Value result, llvm::ArrayRef<int64_t> order = {});
  void finishWhole(mlir::Value result, const View &made);
  View newBuffer(mlir::Value value, llvm::StringRef suffix = "");
  // Whether the value's rows lie cost::rowPitch() apart: on GPUs, if a product reads or writes the
  // value, its elements have 16 bits, and its other users are kernel groups, which accept any
  // strides. A product that merges the last dim with another one needs rows without a pitch.
  bool hasPitch(mlir::Value value) const;
  // A new buffer with its dims in the order of these strides, the largest first, or in this order.
  View newBufferLike(mlir::Value value, llvm::ArrayRef<int64_t> strides);
  View newBufferIn(mlir::Value value, llvm::ArrayRef<int64_t> order);
  // The order in memory of the value's dims, if its op chooses it; empty: row-major.
  llvm::SmallVector<int64_t> chosenOrder(mlir::Value value) const;
  // A new buffer for a group's result: in the layout of an operand that is read elementwise, if all
  // readers are products, which accept any layout.
  View newGroupResult(graph::FusionOp fusion, unsigned result, llvm::ArrayRef<View> operands);
  void setView(mlir::Value value, View view);
  void moveIn(mlir::Value value, const View &view);
  bool diesAt(const View &view, mlir::Operation *op) const;
  mlir::Value coordinates();
  bool isUpdate(mlir::Operation *op) const { return !parts_.lookup(op).isPerMicroBatch(); }

  mlir::func::FuncOp step_;
  ProgramBuilder &program_;
  bool isForGpus_;
  analysis::ChannelsLast channelsLast_; // on GPUs
  Mesh mesh_;
  int64_t microBatches_ = 1;
  llvm::DenseMap<mlir::Operation *, graph::StagePart> parts_;
  llvm::DenseSet<mlir::Operation *> repeated_; // runs once per micro-batch
  bool isStage_ = false;                       // of a pipeline
  std::vector<mlir::Operation *> order_;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<cost::Strided, 3>> strided_;
  llvm::DenseMap<mlir::Operation *, int> position_;
  // Per value the position of the last op that reads it or a view of it.
  llvm::DenseMap<mlir::Value, int> lastUse_;
  llvm::DenseMap<mlir::Value, View> destinations_;
  // Buffers of pads whose operands are written there, and the values with which they are filled
  // before the first op that writes to them.
  llvm::DenseMap<mlir::Value, double> padding_;
  llvm::DenseMap<mlir::Value, View> views_;
  llvm::DenseMap<mlir::Value, int> bufferLastUse_; // per buffer, over all values in it
  llvm::DenseSet<mlir::Value> persistent_;         // buffers that are never free
  llvm::DenseSet<mlir::Value> pitched_;            // buffers with padded rows
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 1>> tenants_; // per buffer
  llvm::DenseMap<mlir::Operation *, View> sums_;                           // to which products add
  program::SegmentOp begin_, update_;
  // The segments that run once per micro-batch, by part. A step that is not a stage has one.
  std::map<graph::StagePart, program::SegmentOp> segments_;
  // In stages: the segments of messages, by when they are passed, and the chunk.
  std::map<std::pair<graph::Passed, int64_t>, program::SegmentOp> receive_, send_;
  bool hasExchanged_ = false; // the messages of the update have been added
  mlir::Value coordinates_;
};

} // namespace cleave::bufferize
