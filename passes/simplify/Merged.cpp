// Simplification: does work on merged dims before they are merged. Exporters reshape [batch,
// positions, width] to a matrix for a product and back, or repeat weights for every element of the
// batch. Unmerged, batch and positions can be split over ranks independently.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

// Whether a group merges several dims that are larger than one.
bool isMerged(ArrayRef<int64_t> group, const Shape &shape) {
  return llvm::count_if(group, [&](int64_t dim) { return shape[dim] != Polynomial(1); }) > 1;
}

// An operand of a product, and its dims before a reshape merged them.
struct MergedSide {
  Value operand;             // behind the reshape
  DimGroups groups;          // the dims of `operand` behind each dim
  SmallVector<bool> isApart; // whether the dim is to be taken apart

  explicit MergedSide(Value value) : operand(value) {
    auto reshape = value.getDefiningOp<ReshapeOp>();
    if (std::optional<DimGroups> merged = reshape ? mergedDims(reshape) : std::nullopt) {
      operand = reshape.getOperand();
      groups = *merged;
    } else {
      for (int64_t dim = 0; dim < rankOf(value); ++dim)
        groups.push_back({dim});
    }
    for (ArrayRef<int64_t> group : groups)
      isApart.push_back(isMerged(group, shapeOf(operand)));
  }

  SmallVector<Polynomial> sizesOf(int64_t dim) const {
    Shape shape = shapeOf(operand);
    SmallVector<Polynomial> sizes;
    for (int64_t part : groups[dim])
      sizes.push_back(shape[part]);
    return sizes;
  }

  // The operand with some of its dims unmerged, and per dim the first new dim and their number.
  Value take(OpBuilder &b, Value merged, SmallVector<std::pair<int64_t, int64_t>> &places) const {
    Shape shape, before = shapeOf(merged);
    for (size_t dim = 0; dim < groups.size(); ++dim) {
      auto first = static_cast<int64_t>(shape.size());
      if (isApart[dim])
        llvm::append_range(shape, sizesOf(static_cast<int64_t>(dim)));
      else
        shape.push_back(before[dim]);
      places.push_back({first, static_cast<int64_t>(shape.size()) - first});
    }
    return buildReshape(b, operand, shape);
  }
};

// Dims that both sides share stay merged unless both sides unmerge them alike.
void agree(MergedSide &lhs, MergedSide &rhs, ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
  for (auto [l, r] : llvm::zip(left, right))
    if (lhs.sizesOf(l) != rhs.sizesOf(r))
      lhs.isApart[l] = rhs.isApart[r] = false;
}

SmallVector<int64_t> placesOf(ArrayRef<int64_t> dims,
                              ArrayRef<std::pair<int64_t, int64_t>> places) {
  SmallVector<int64_t> out;
  for (int64_t dim : dims)
    for (int64_t i = 0; i < places[dim].second; ++i)
      out.push_back(places[dim].first + i);
  return out;
}

struct DotOfMerged : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &b) const override {
    MergedSide lhs(op.getLhs()), rhs(op.getRhs());
    agree(lhs, rhs, op.getLhsBatch(), op.getRhsBatch());
    agree(lhs, rhs, op.getLhsContracting(), op.getRhsContracting());
    if (!llvm::is_contained(lhs.isApart, true) && !llvm::is_contained(rhs.isApart, true))
      return failure();
    SmallVector<std::pair<int64_t, int64_t>> left, right;
    Value a = lhs.take(b, op.getLhs(), left), c = rhs.take(b, op.getRhs(), right);
    Value dot =
        buildDot(b, op.getLoc(), elementTypeOf(op.getType()), a, c,
                 placesOf(op.getLhsBatch(), left), placesOf(op.getRhsBatch(), right),
                 placesOf(op.getLhsContracting(), left), placesOf(op.getRhsContracting(), right));
    b.replaceOp(op, buildReshape(b, dot, shapeOf(op)));
    return success();
  }
};

// Whether a broadcast repeats its operand along this dim.
bool isRepeated(Value value, int64_t dim) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return broadcast && !llvm::is_contained(broadcast.getDims(), dim);
}

SmallVector<int64_t> without(ArrayRef<int64_t> dims, ArrayRef<int64_t> dropped) {
  SmallVector<int64_t> out;
  for (int64_t dim : dims)
    if (!llvm::is_contained(dropped, dim))
      out.push_back(dim);
  return out;
}

// The broadcast without some of the dims that it repeats, and the new numbers of these dims.
Value repeatedLess(OpBuilder &b, Value value, ArrayRef<int64_t> dropped,
                   SmallVector<int64_t> &batch, SmallVector<int64_t> &contracting) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  Shape shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(value)))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(dim)))
      shape.push_back(size);
  auto renumber = [&](ArrayRef<int64_t> dims) {
    SmallVector<int64_t> out;
    for (int64_t dim : without(dims, dropped))
      out.push_back(dim - llvm::count_if(dropped, [&](int64_t other) { return other < dim; }));
    return out;
  };
  batch = renumber(batch);
  contracting = renumber(contracting);
  Type type = tensorOf(shape, elementTypeOf(value));
  SmallVector<int64_t> dims = renumber(broadcast.getDims());
  return BroadcastOp::create(b, value.getLoc(), type, broadcast.getOperand(), dims);
}

// A product whose right side (weights, say) is the same for some batch dims: these become free dims
// of the left side.
struct DotOfRepeated : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &b) const override {
    SmallVector<int64_t> freed, dropped; // of the left and the right
    for (auto [left, right] : llvm::zip(op.getLhsBatch(), op.getRhsBatch()))
      if (isRepeated(op.getRhs(), right)) {
        freed.push_back(left);
        dropped.push_back(right);
      }
    if (freed.empty())
      return failure();
    SmallVector<int64_t> batch = without(op.getLhsBatch(), freed), rightBatch(op.getRhsBatch()),
                         rightContracting(op.getRhsContracting());
    // The dims of the result: batch, the left side's free ones, the right side's.
    SmallVector<int64_t> before(op.getLhsBatch()), after = batch;
    for (int64_t dim = 0; dim < rankOf(op.getLhs()); ++dim) {
      bool isFree = !llvm::is_contained(op.getLhsContracting(), dim);
      if (isFree && !llvm::is_contained(op.getLhsBatch(), dim))
        before.push_back(dim);
      if (isFree && !llvm::is_contained(batch, dim))
        after.push_back(dim);
    }
    SmallVector<int64_t> order;
    for (int64_t dim : before)
      order.push_back(llvm::find(after, dim) - after.begin());
    for (auto dim = static_cast<int64_t>(before.size()); dim < rankOf(op); ++dim)
      order.push_back(dim);
    Value rhs = repeatedLess(b, op.getRhs(), dropped, rightBatch, rightContracting);
    Value dot = buildDot(b, op.getLoc(), elementTypeOf(op.getType()), op.getLhs(), rhs, batch,
                         rightBatch, op.getLhsContracting(), rightContracting);
    b.replaceOp(op, buildTranspose(b, dot, order));
    return success();
  }
};

// Elementwise ops whose other operands are merged alike or constant along the merged dims.
struct PointwiseOfMerged : OpInterfaceRewritePattern<PointwiseInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(PointwiseInterface op, PatternRewriter &b) const override {
    Value whole;
    DimGroups groups;
    for (Value operand : op->getOperands()) {
      auto reshape = operand.getDefiningOp<ReshapeOp>();
      std::optional<DimGroups> merged = reshape ? mergedDims(reshape) : std::nullopt;
      if (!merged || llvm::none_of(*merged, [&](ArrayRef<int64_t> group) {
            return isMerged(group, shapeOf(reshape.getOperand()));
          }))
        continue;
      whole = reshape.getOperand();
      groups = *merged;
      break;
    }
    if (!whole || op->getNumResults() != 1 || !llvm::all_of(op->getOperands(), [&](Value operand) {
          return isMergedAlike(operand, shapeOf(whole)) || placesOf(operand, groups);
        }))
      return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(apart(operand, shapeOf(whole), groups, b));
    Type type = tensorOf(shapeOf(whole), elementTypeOf(op->getResult(0)));
    Value result = cloneWith(b, op, operands, TypeRange{type})[0];
    b.replaceOp(op, buildReshape(b, result, shapeOf(op->getResult(0))));
    return success();
  }

  static bool isMergedAlike(Value operand, const Shape &whole) {
    auto reshape = operand.getDefiningOp<ReshapeOp>();
    return reshape && shapeOf(reshape.getOperand()) == whole;
  }

  // A broadcast's dims before merging; none if its operand varies along a merged dim.
  static std::optional<SmallVector<int64_t>> placesOf(Value operand, const DimGroups &groups) {
    auto broadcast = operand.getDefiningOp<BroadcastOp>();
    SmallVector<int64_t> dims;
    if (!broadcast)
      return std::nullopt;
    for (int64_t dim : broadcast.getDims()) {
      if (groups[dim].size() != 1)
        return std::nullopt;
      dims.push_back(groups[dim][0]);
    }
    return dims;
  }

  static Value apart(Value operand, const Shape &whole, const DimGroups &groups,
                     PatternRewriter &b) {
    if (isMergedAlike(operand, whole))
      return operand.getDefiningOp<ReshapeOp>().getOperand();
    Type type = tensorOf(whole, elementTypeOf(operand));
    return BroadcastOp::create(b, operand.getLoc(), type,
                               operand.getDefiningOp<BroadcastOp>().getOperand(),
                               *placesOf(operand, groups));
  }
};

} // namespace

void addMergedPatterns(RewritePatternSet &patterns) {
  patterns.add<DotOfMerged, DotOfRepeated, PointwiseOfMerged>(patterns.getContext());
}

} // namespace cleave::simplify
