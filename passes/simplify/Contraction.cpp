// Simplification: a dot_general reads a transposed operand where it lies.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

struct Side {
  Value operand;
  SmallVector<int64_t> batch, contracting;
};

// The dims that are neither batch nor contracted keep their order in the result, so they must keep
// it in the operand.
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
    rewriter.replaceOpWithNewOp<DotGeneralOp>(op, lhs.operand, rhs.operand, lhs.batch, rhs.batch,
                                              lhs.contracting, rhs.contracting);
    return success();
  }
};

} // namespace

void addContractionPatterns(RewritePatternSet &patterns) {
  patterns.add<DotOfTranspose>(patterns.getContext());
}

} // namespace cleave::simplify
