// Simplification: ops on constants. A tensor with equal elements becomes a scalar constant and its
// broadcast. Other results become constants only if they are small, since constants cannot be split
// over ranks.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

#include "dialects/graph/ByPositions.h"
#include "dialects/graph/Cost.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

constexpr int64_t kMaxElements = 4096; // of what is evaluated and written out
constexpr int kMaxDepth = 24;          // of what is evaluated

bool isSmall(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() <= kMaxElements;
}

// Whether a double represents an element of this type: not for large 64-bit integers.
bool isExact(double value, ElementType type) {
  bool isWide = type == ElementType::I64 || type == ElementType::U64;
  return !isWide || std::fabs(value) < 9007199254740992.0;
}
bool isExact(double value, Type type) { return isExact(value, toElementType(elementTypeOf(type))); }
bool isExact(const Tensor &tensor) {
  return llvm::all_of(tensor.values, [&](double value) { return isExact(value, tensor.type); });
}

// Evaluates small values that follow from constants and positions, once each.
class Evaluation {
public:
  const Tensor *of(Value value, int depth = kMaxDepth) {
    if (!isSmall(value.getType()) || depth == 0)
      return nullptr;
    auto [it, isNew] = known_.try_emplace(value);
    if (!isNew)
      return it->second.get();
    std::unique_ptr<Tensor> result = evaluate(value, depth - 1);
    return (known_[value] = std::move(result)).get();
  }

private:
  std::unique_ptr<Tensor> evaluate(Value value, int depth) {
    Operation *op = value.getDefiningOp();
    auto reference = dyn_cast_or_null<ReferenceInterface>(op);
    if (std::optional<double> splat = splatValue(value))
      return std::make_unique<Tensor>(toElementType(elementTypeOf(value)), staticShapeOf(value),
                                      *splat);
    // A dropout without a seed, which has an effect, is drawn by the training step.
    if (!reference || op->getNumResults() != 1 || op->hasTrait<StepDependent>() ||
        !isMemoryEffectFree(op))
      return nullptr;
    SmallVector<Tensor> operands;
    for (Value operand : op->getOperands()) {
      const Tensor *known = of(operand, depth);
      if (!known)
        return nullptr;
      operands.push_back(*known);
    }
    Tensor result = reference.evaluate(operands)[0];
    return isExact(result) ? std::make_unique<Tensor>(std::move(result)) : nullptr;
  }

  llvm::DenseMap<Value, std::unique_ptr<Tensor>> known_;
};

// Folds ops on known small operands if one of them is a table or the op is costly. Ops that only
// move or count positions stay, since they can be split over ranks.
struct FoldSmall : RewritePattern {
  explicit FoldSmall(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto isSplat = [](Value operand) { return splatValue(operand).has_value(); };
    bool hasTable = llvm::any_of(op->getOperands(), [&](Value operand) {
      return operand.getDefiningOp<ConstantOp>() && !isSplat(operand);
    });
    bool isFoldable = hasTable || isCostly(op) || llvm::all_of(op->getOperands(), isSplat);
    if (!isa<ReferenceInterface>(op) || isa<BroadcastOp>(op) || op->getNumOperands() == 0 ||
        op->getNumResults() != 1 || !isFoldable)
      return failure();
    Evaluation evaluation;
    const Tensor *result = evaluation.of(op->getResult(0));
    if (!result)
      return failure();
    Type type = op->getResult(0).getType();
    if (!result->values.empty() && llvm::all_equal(result->values))
      rewriter.replaceOp(op, buildSplat(rewriter, op->getLoc(), type, result->values[0]));
    else
      rewriter.replaceOpWithNewOp<ConstantOp>(op, toAttribute(*result, op->getContext()));
    return success();
  }
};

// Pointwise ops on splats of any size.
struct FoldPointwiseOfSplats : OpInterfaceRewritePattern<PointwiseInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(PointwiseInterface op, PatternRewriter &rewriter) const override {
    SmallVector<double> values;
    for (Value operand : op->getOperands()) {
      std::optional<double> splat = splatValue(operand);
      if (!splat || !isExact(*splat, operand.getType()))
        return failure();
      values.push_back(*splat);
    }
    Type type = op->getResult(0).getType();
    if (values.empty())
      return failure();
    double value = roundTo(toElementType(elementTypeOf(type)), op.evaluateScalar(values));
    if (!isExact(value, type))
      return failure();
    rewriter.replaceOp(op, buildSplat(rewriter, op->getLoc(), type, value));
    return success();
  }
};

// Moving equal elements changes nothing.
template <typename Op> struct FoldMoveOfSplat : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    std::optional<double> splat = splatValue(op.getOperand());
    if (!splat)
      return failure();
    rewriter.replaceOp(op, buildSplat(rewriter, op.getLoc(), op.getType(), *splat));
    return success();
  }
};

// Replaces a constant whose elements follow from their indices by ops on positions, which can be
// split over ranks and simplified further.
struct ConstantOfPositions : OpRewritePattern<ConstantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConstantOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || type.getRank() == 0 || !isa<DenseElementsAttr>(op.getValue()) ||
        !graph::isExact(op.getValue()))
      return failure();
    Tensor table = toTensor(op.getValue());
    Value computed =
        buildByPositions(rewriter, op.getLoc(), type, [&](int64_t i) { return table.values[i]; });
    if (!computed && type.getNumElements() == 1)
      computed = buildSplat(rewriter, op.getLoc(), type, table.values[0]);
    if (!computed)
      return failure();
    rewriter.replaceOp(op, computed);
    return success();
  }
};

// Some of several sizes: those that have no symbols fold to constants.
struct SliceOfSizes : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &b) const override {
    auto sizes = op.getOperand().getDefiningOp<SizesOp>();
    if (!sizes || rankOf(sizes.getResult()) != 1 || op.getSymbolicStart() ||
        !hasStaticShape(op.getType()))
      return failure();
    SmallVector<Attribute> kept;
    for (int64_t i = 0; i < staticShapeOf(op.getType())[0]; ++i)
      kept.push_back(sizes.getValues()[op.getStart() + i * op.getStride()]);
    b.replaceOpWithNewOp<SizesOp>(op, op.getType(), b.getArrayAttr(kept), sizes.getDivisorAttr());
    return success();
  }
};

} // namespace

void addConstantPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<FoldSmall, FoldPointwiseOfSplats, ConstantOfPositions, FoldMoveOfSplat<ReshapeOp>,
               FoldMoveOfSplat<TransposeOp>, FoldMoveOfSplat<SliceOp>, FoldMoveOfSplat<ReverseOp>,
               SliceOfSizes>(context);
}

} // namespace cleave::simplify
