#include "passes/shard/GroupPartition.h"

#include "passes/shard/LayoutChange.h"
#include "passes/shard/Masking.h"

using namespace mlir;

namespace cleave::shard {

namespace {

class GroupPartitioner {
public:
  GroupPartitioner(graph::FusionOp fusion, ValueRange operands, const Mesh &mesh,
                   BlockOffsets &offsets)
      : fusion_(fusion), operands_(operands.begin(), operands.end()), mesh_(mesh),
        offsets_(offsets), inner_(fusion.getContext()) {}

  SmallVector<Value> run(OpBuilder &b, const planner::Op &plain, const FactorAxes &axes) {
    const planner::Group &group = *plain.group;
    auto splits = planner::projectSplit(group, plain.rule, axes, mesh_);
    assert(splits && "the group cannot be split like this");
    OperationState state(fusion_.getLoc(), fusion_->getName());
    Region *region = state.addRegion();
    body_ = &region->emplaceBlock();
    inner_.setInsertionPointToStart(body_);
    Block &old = fusion_.getBody().front();
    for (auto [argument, operand] : llvm::zip(old.getArguments(), operands_))
      values_.map(argument, body_->addArgument(operand.getType(), argument.getLoc()));
    for (auto [i, op] : llvm::enumerate(old.without_terminator()))
      partitionOp(&op, group.ops[i].rule, (*splits)[i]);
    Operation *yield = old.getTerminator();
    SmallVector<Value> yielded;
    for (Value value : yield->getOperands())
      yielded.push_back(values_.lookup(value));
    graph::YieldOp::create(inner_, yield->getLoc(), yielded);
    state.addOperands(operands_);
    state.addTypes(ValueRange(yielded).getTypes());
    state.addAttributes(fusion_->getAttrs());
    return SmallVector<Value>(b.create(state)->getResults());
  }

private:
  void partitionOp(Operation *op, const FactorRule &rule, const FactorAxes &axes) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(values_.lookup(operand));
    auto blockOffset = [&](unsigned factor) {
      return enter(axes[factor], *rule.factors[factor].size.constant(), op->getLoc());
    };
    for (const PaddedDim &padded : paddedDims(op, rule, axes, mesh_))
      operands[padded.operand] =
          maskPadding(inner_, operands[padded.operand], padded, blockOffset(padded.factor));
    SmallVector<Type> types;
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      types.push_back(localType(result.getType(), resultSharding(rule, i, axes), mesh_));
    auto results =
        cast<graph::PartitionInterface>(op).partition(inner_, operands, types, blockOffset);
    for (auto [old, value] : llvm::zip(op->getResults(), results))
      values_.map(old, value);
  }

  // The offset as an argument of the group's block.
  Value enter(const std::vector<int> &axes, int64_t size, Location loc) {
    Value outside = offsets_.get(axes, size, loc);
    if (!outside)
      return {};
    Value &inside = entered_[outside];
    if (!inside) {
      inside = body_->addArgument(outside.getType(), loc);
      operands_.push_back(outside);
    }
    return inside;
  }

  graph::FusionOp fusion_;
  SmallVector<Value> operands_;
  const Mesh &mesh_;
  BlockOffsets &offsets_;
  OpBuilder inner_;
  Block *body_ = nullptr;
  IRMapping values_;
  llvm::DenseMap<Value, Value> entered_;
};

} // namespace

SmallVector<Value> partitionGroup(OpBuilder &b, graph::FusionOp fusion, const planner::Op &plain,
                                  ValueRange operands, const FactorAxes &axes, const Mesh &mesh,
                                  BlockOffsets &offsets) {
  return GroupPartitioner(fusion, operands, mesh, offsets).run(b, plain, axes);
}

} // namespace cleave::shard
