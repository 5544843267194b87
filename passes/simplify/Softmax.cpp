// Simplification: recognises softmax by its formula.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"
#include "passes/simplify/Repeats.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

// exp(x) / sum of exp(x) along one dim.
struct RecogniseSoftmax : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &b) const override {
    auto exp = op.getLhs().getDefiningOp<ExpOp>();
    auto spread = op.getRhs().getDefiningOp<BroadcastOp>();
    auto sum = spread ? spread.getOperand().getDefiningOp<ReduceOp>() : ReduceOp();
    if (!exp || !sum || sum.getKind() != Reduction::Sum || sum.getOperand() != exp ||
        sum.getDims().size() != 1)
      return failure();
    int64_t dim = sum.getDims()[0];
    for (auto [i, place] : llvm::enumerate(spread.getDims()))
      if (place != static_cast<int64_t>(i) + (static_cast<int64_t>(i) >= dim))
        return failure();
    b.replaceOpWithNewOp<SoftmaxOp>(op, op.getType(), exp.getOperand(), dim);
    return success();
  }
};

// softmax(x - y) is softmax(x) if y is the same along the dim, such as the maximum of x.
struct DropOrigin : OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SoftmaxOp op, PatternRewriter &b) const override {
    auto sub = op.getOperand().getDefiningOp<SubOp>();
    if (!sub || !repeatedDims(sub.getRhs())[op.getDim()])
      return failure();
    b.modifyOpInPlace(op, [&] { op.getOperandMutable().assign(sub.getLhs()); });
    return success();
  }
};

} // namespace

void addSoftmaxPatterns(RewritePatternSet &patterns) {
  patterns.add<RecogniseSoftmax, DropOrigin>(patterns.getContext());
}

} // namespace cleave::simplify
