// Simplification: what follows from constants alone. A tensor whose elements are all equal is a
// scalar constant and its broadcast; other results become constants only if they are tiny
// (constants cannot be split over ranks).
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

constexpr int64_t kMaxOperand = 4096; // elements that are looked at
constexpr int64_t kMaxResult = 64;    // elements that are written out

bool isSmall(Type type, int64_t limit) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() <= limit;
}

// A constant, or a small splat written out.
std::optional<Tensor> knownTensor(Value value) {
  if (!isSmall(value.getType(), kMaxOperand))
    return std::nullopt;
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return toTensor(constant.getValue());
  if (std::optional<double> splat = splatValue(value))
    return Tensor(toElementType(elementTypeOf(value)), staticShapeOf(value), *splat);
  return std::nullopt;
}

// 64-bit integers that doubles cannot hold are left alone.
bool isExact(const Tensor &tensor) {
  if (tensor.type != ElementType::I64 && tensor.type != ElementType::U64)
    return true;
  return llvm::all_of(tensor.values,
                      [](double value) { return std::fabs(value) < 9007199254740992.0; });
}

// Any op on known small operands.
struct FoldSmall : RewritePattern {
  explicit FoldSmall(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto reference = dyn_cast<ReferenceInterface>(op);
    if (!reference || isa<ConstantOp, BroadcastOp, AccumulateOp>(op) || op->getNumOperands() == 0 ||
        op->getNumResults() != 1 || !isSmall(op->getResult(0).getType(), kMaxOperand))
      return failure();
    SmallVector<Tensor> operands;
    for (Value operand : op->getOperands()) {
      std::optional<Tensor> known = knownTensor(operand);
      if (!known || !isExact(*known))
        return failure();
      operands.push_back(std::move(*known));
    }
    Tensor result = reference.evaluate(operands)[0];
    Type type = op->getResult(0).getType();
    bool isSplat = !result.values.empty() && llvm::all_equal(result.values);
    if (isSplat) {
      rewriter.replaceOp(op, buildSplat(rewriter, op->getLoc(), type, result.values[0]));
      return success();
    }
    if (result.size() > kMaxResult)
      return failure();
    rewriter.replaceOpWithNewOp<ConstantOp>(op, toAttribute(result, op->getContext()));
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
      if (!splat)
        return failure();
      values.push_back(*splat);
    }
    Type type = op->getResult(0).getType();
    if (values.empty())
      return failure();
    double value = roundTo(toElementType(elementTypeOf(type)), op.evaluateScalar(values));
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

// A constant of equal elements is the broadcast of a scalar.
struct SplatConstant : OpRewritePattern<ConstantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConstantOp op, PatternRewriter &rewriter) const override {
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!elements || !elements.isSplat() || elements.getType().getRank() == 0)
      return failure();
    auto scalar = elements.resizeSplat(RankedTensorType::get({}, elements.getElementType()));
    Value constant = ConstantOp::create(rewriter, op.getLoc(), scalar);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), constant, ArrayRef<int64_t>());
    return success();
  }
};

// Whole numbers one after the other along the only dim that is not of size one: an iota, which can be split over ranks.
struct CountingConstant : OpRewritePattern<ConstantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConstantOp op, PatternRewriter &rewriter) const override {
    constexpr int64_t least = 3; // shorter ones are rather lists of two choices
    Shape shape = shapeOf(op.getResult()), counted = shape;
    std::erase(counted, Polynomial(1));
    Type element = elementTypeOf(op.getType());
    if (counted.size() != 1 || !element.isSignlessInteger() || element.isInteger(1) ||
        *counted[0].constant() < least)
      return failure();
    Tensor table = toTensor(op.getValue());
    for (int64_t i = 0; i < table.size(); ++i)
      if (table.values[i] != table.values[0] + static_cast<double>(i))
        return failure();
    Value count = IotaOp::create(rewriter, op.getLoc(), tensorOf(counted, element), 0);
    if (table.values[0] != 0)
      count = AddOp::create(rewriter, op.getLoc(), count,
                            buildSplatLike(rewriter, count, table.values[0]));
    rewriter.replaceOp(op, buildReshape(rewriter, count, shape));
    return success();
  }
};

} // namespace

void addConstantPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<FoldSmall, FoldPointwiseOfSplats, SplatConstant, CountingConstant,
               FoldMoveOfSplat<ReshapeOp>, FoldMoveOfSplat<TransposeOp>, FoldMoveOfSplat<SliceOp>,
               FoldMoveOfSplat<ReverseOp>>(context);
}

} // namespace cleave::simplify
