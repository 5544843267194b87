// Simplification: recognises a matrix per row that an index selects among few, as mixtures of
// experts write it, and groups the rows by their matrix.
#include "dialects/graph/Build.h"
#include "passes/simplify/Patterns.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

// One row times the matrix of its index: x [rows, in], weights [groups, in, out], indices [rows].
struct SelectedProduct {
  Value x, weights, indices;
};

// The product, if `matrices` are gathered ones: dim 0 of both operands is a batch dim, and one dim
// of each is summed. The rows have no other dims of a size above 1.
std::optional<SelectedProduct> selectedProduct(OpBuilder &b, Value matrices, Value rows,
                                               int64_t summedOfMatrix) {
  auto gather = matrices.getDefiningOp<GatherOp>();
  if (!gather || gather.getDim() != 0 || gather.getBatch() != 0 ||
      rankOf(gather.getIndices()) != 1 || rankOf(matrices) != 3 ||
      !isa<FloatType>(elementTypeOf(matrices)))
    return std::nullopt;
  const Shape shape = shapeOf(matrices);
  const Shape row = {shape[0], shape[summedOfMatrix]};
  if (elementCount(rows.getType()) != row[0] * row[1])
    return std::nullopt;
  // Gathered matrices are large where there are as many rows as matrices.
  const std::optional<int64_t> count = row[0].constant(),
                               groups = shapeOf(gather.getOperand())[0].constant();
  if (!count || !groups || *count < *groups)
    return std::nullopt;
  Value weights = gather.getOperand();
  if (summedOfMatrix == 2)
    weights = buildTranspose(b, weights, {0, 2, 1});
  return SelectedProduct{buildReshape(b, rows, row), weights,
                         buildCast(b, gather.getIndices(), b.getI64Type())};
}

// The indices of rows, of which those that select nothing come behind all others.
Value buildValid(OpBuilder &b, Location loc, Value indices, int64_t groups) {
  Value isNegative =
      CompareOp::create(b, loc, Predicate::LT, indices, buildSplatLike(b, indices, 0));
  return SelectOp::create(b, loc, isNegative,
                          buildSplatLike(b, indices, static_cast<double>(groups)), indices);
}

// Per group the number of rows in it and in those before it.
Value buildEnds(OpBuilder &b, Location loc, Value valid, int64_t groups) {
  const Shape pairs = {groups, shapeOf(valid)[0]};
  Value group = IotaOp::create(b, loc, tensorOf(pairs, elementTypeOf(valid)), 0);
  Value isUpTo =
      CompareOp::create(b, loc, Predicate::LE, buildBroadcast(b, loc, valid, pairs), group);
  return buildReduce(b, Reduction::Sum, buildCast(b, isUpTo, b.getI64Type()), {1});
}

// A product of rows with gathered matrices reads a matrix per row. Sorted by matrix, the rows read
// each matrix once.
struct GroupSelectedRows : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &b) const override {
    auto isFirst = [](ArrayRef<int64_t> dims) { return dims.size() == 1 && dims[0] == 0; };
    if (!isFirst(op.getLhsBatch()) || !isFirst(op.getRhsBatch()) ||
        op.getLhsContracting().size() != 1)
      return failure();
    std::optional<SelectedProduct> found =
        selectedProduct(b, op.getLhs(), op.getRhs(), op.getLhsContracting()[0]);
    if (!found)
      found = selectedProduct(b, op.getRhs(), op.getLhs(), op.getRhsContracting()[0]);
    if (!found)
      return failure();
    Location loc = op.getLoc();
    const Shape weights = shapeOf(found->weights);
    Value valid = buildValid(b, loc, found->indices, *weights[0].constant());
    Value order = SortOp::create(b, loc, valid, 0, false).getIndices();
    Value rows = GatherOp::create(b, loc, found->x, order, 0, 0);
    Value ends = buildEnds(b, loc, valid, *weights[0].constant());
    const Type type = tensorOf({shapeOf(rows)[0], weights[2]}, elementTypeOf(op.getType()));
    Value product = GroupedMatmulOp::create(b, loc, type, rows, found->weights, ends, Value(),
                                            Value(), IntegerAttr());
    Value place = SortOp::create(b, loc, order, 0, false).getIndices();
    Value inOrder = GatherOp::create(b, loc, product, place, 0, 0);
    b.replaceOp(op, buildReshape(b, inOrder, shapeOf(op.getResult())));
    return success();
  }
};

} // namespace

void addExpertPatterns(RewritePatternSet &patterns) {
  patterns.add<GroupSelectedRows>(patterns.getContext());
}

} // namespace cleave::simplify
