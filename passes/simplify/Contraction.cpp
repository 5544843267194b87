// Simplification: lets a dot_general read the operand of a transpose, and moves known factors of
// operands behind the product.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

#include <cmath>

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

struct Side {
  Value operand;
  SmallVector<int64_t> batch, contracting;
};

// Dims that are neither batch nor contracting have the same order in the operand and in the result,
// so the transpose must keep it.
bool readThrough(Side &side) {
  auto transpose = side.operand.getDefiningOp<TransposeOp>();
  if (!transpose)
    return false;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  SmallVector<int64_t> free;
  for (int64_t dim = 0; dim < static_cast<int64_t>(permutation.size()); ++dim)
    if (!llvm::is_contained(side.batch, dim) && !llvm::is_contained(side.contracting, dim))
      free.push_back(permutation[dim]);
  if (!llvm::is_sorted(free))
    return false;
  side.operand = transpose.getOperand();
  for (SmallVector<int64_t> *dims : {&side.batch, &side.contracting})
    for (int64_t &dim : *dims)
      dim = permutation[dim];
  return true;
}

struct DotOfTranspose : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &rewriter) const override {
    Side lhs{op.getLhs(), to_vector(op.getLhsBatch()), to_vector(op.getLhsContracting())};
    Side rhs{op.getRhs(), to_vector(op.getRhsBatch()), to_vector(op.getRhsContracting())};
    bool left = readThrough(lhs), right = readThrough(rhs);
    if (!left && !right)
      return failure();
    rewriter.replaceOpWithNewOp<DotGeneralOp>(op, op.getType(), lhs.operand, rhs.operand, lhs.batch,
                                              rhs.batch, lhs.contracting, rhs.contracting);
    return success();
  }
};

// The tensor that is multiplied by a splat, and the splat; the value itself and 1 if it is no such
// product.
std::pair<Value, double> splitFactor(Value value) {
  auto product = value.getDefiningOp<MulOp>();
  if (product)
    for (auto [tensor, factor] : {std::pair(product.getLhs(), product.getRhs()),
                                  std::pair(product.getRhs(), product.getLhs())})
      if (std::optional<double> number = splatValue(factor))
        return {tensor, *number};
  return {value, 1};
}

// (a x) · (b y) is a b (x · y), if elementwise work follows that can include the factor: attention
// scales queries and keys, which takes a pass over memory each. Not in f16, where the scaling may
// avoid overflow.
struct FactorsOfDot : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &rewriter) const override {
    auto [lhs, left] = splitFactor(op.getLhs());
    auto [rhs, right] = splitFactor(op.getRhs());
    Type element = elementTypeOf(op.getType());
    bool isFollowed = llvm::all_of(op->getUsers(), [](Operation *user) {
      return isa<PointwiseInterface, DecompositionInterface>(user);
    });
    if ((left == 1 && right == 1) || !isFollowed || !isa<FloatType>(element) || element.isF16())
      return failure();
    double factor = roundTo(toElementType(element), left * right);
    if (!std::isfinite(factor) || (factor == 0 && left != 0 && right != 0))
      return failure();
    Value dot =
        DotGeneralOp::create(rewriter, op.getLoc(), op.getType(), lhs, rhs, op.getLhsBatch(),
                             op.getRhsBatch(), op.getLhsContracting(), op.getRhsContracting());
    rewriter.replaceOpWithNewOp<MulOp>(op, dot, buildSplatLike(rewriter, dot, factor));
    return success();
  }
};

} // namespace

void addContractionPatterns(RewritePatternSet &patterns) {
  patterns.add<DotOfTranspose, FactorsOfDot>(patterns.getContext());
}

} // namespace cleave::simplify
