// Simplification: movement ops that cancel each other or can be merged. Folders of the ops
// themselves merge reshape of reshape, transpose of transpose and broadcast of broadcast.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

#include <numeric>

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

// A transpose that moves only dims of size 1 is a reshape.
struct TransposeOfUnitDims : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    Shape shape = shapeOf(op.getOperand());
    SmallVector<int64_t> moved;
    for (int64_t dim : op.getPermutation())
      if (shape[dim] != Polynomial(1))
        moved.push_back(dim);
    if (!llvm::is_sorted(moved) || llvm::is_sorted(op.getPermutation()))
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getOperand());
    return success();
  }
};

// reshape(transpose(merge(x))) is reshape(transpose'(x)): batch and heads stay separate dims, so
// that each can be split over ranks.
struct TransposeOfMerged : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getOperand().getDefiningOp<TransposeOp>();
    auto merge = transpose ? transpose.getOperand().getDefiningOp<ReshapeOp>() : ReshapeOp();
    auto groups = merge ? mergedDims(merge) : std::nullopt;
    if (!groups || rankOf(merge.getOperand()) <= rankOf(merge))
      return failure();
    SmallVector<int64_t> permutation;
    for (int64_t dim : transpose.getPermutation())
      llvm::append_range(permutation, (*groups)[dim]);
    Value moved = buildTranspose(rewriter, merge.getOperand(), permutation);
    rewriter.replaceOp(op, buildReshape(rewriter, moved, shapeOf(op)));
    return success();
  }
};

struct SliceOfSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<SliceOp>();
    if (!inner || inner.getDim() != op.getDim())
      return failure();
    Polynomial start = inner.startSize() + op.startSize() * static_cast<int64_t>(inner.getStride());
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getOperand(), op.getDim(), start,
                                         inner.getStride() * op.getStride());
    return success();
  }
};

// A slice that is one operand of a concat.
struct SliceOfConcat : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto concat = op.getOperand().getDefiningOp<ConcatOp>();
    if (!concat || concat.getDim() != op.getDim() || op.getStride() != 1)
      return failure();
    Polynomial start;
    for (Value piece : concat.getOperands()) {
      if (start == op.startSize() && piece.getType() == op.getType()) {
        rewriter.replaceOp(op, piece);
        return success();
      }
      start += shapeOf(piece)[op.getDim()];
    }
    return failure();
  }
};

struct ReverseOfReverse : OpRewritePattern<ReverseOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReverseOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ReverseOp>();
    if (!inner || inner.getDim() != op.getDim())
      return failure();
    rewriter.replaceOp(op, inner.getOperand());
    return success();
  }
};

// A pad by no elements, a concat of one operand.
struct DropPad : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &rewriter) const override {
    if (op.getOperand().getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

struct DropConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    if (op.getOperands().size() != 1)
      return failure();
    rewriter.replaceOp(op, op.getOperands()[0]);
    return success();
  }
};

} // namespace

void addMovementPatterns(RewritePatternSet &patterns) {
  patterns.add<TransposeOfUnitDims, TransposeOfMerged, SliceOfSlice, SliceOfConcat,
               ReverseOfReverse, DropPad, DropConcat>(patterns.getContext());
}

} // namespace cleave::simplify
