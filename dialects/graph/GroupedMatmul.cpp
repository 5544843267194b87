// Contraction: products of groups of rows, whose ends are data: grouped_matmul and
// grouped_weight_grad.
#include "dialects/graph/GroupedMatmul.h"

#include "dialects/graph/Build.h"

using namespace mlir;

namespace cleave::graph {

// -- verification ---------------------------------------------------------------------------------

// (C1): that the tensors have these ranks.
static LogicalResult verifyRanks(Operation *op,
                                 std::initializer_list<std::pair<Value, int64_t>> ranks) {
  for (auto [value, rank] : ranks)
    if (rankOf(value) != rank) {
      auto diag = op->emitOpError("needs matrices in groups, found ") << value.getType();
      diag.attachNote(value.getLoc()) << "expected " << rank << " dims";
      return diag;
    }
  return success();
}

// (C3) and (C4).
template <typename Op> static LogicalResult verifyGroups(Op op, Value grouped) {
  if (!op.getFirstGroup() && shapeOf(grouped)[0] != shapeOf(op.getEnds())[0]) {
    auto diag = op.emitOpError("needs an end per group, found ") << op.getEnds().getType();
    diag.attachNote(grouped.getLoc()) << "the groups are those of " << grouped.getType();
    return diag;
  }
  if (static_cast<bool>(op.getFirstRow()) != op.getWholeRows().has_value())
    return op.emitOpError("needs `first_row` and `whole_rows` both, or none");
  return success();
}

LogicalResult GroupedMatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Shape x = shapeOf(adaptor.getX()), weights = shapeOf(adaptor.getWeights());
  if (x.size() != 2 || weights.size() != 3)
    return emitOptionalError(location, "needs matrices in groups, found ", adaptor.getX().getType(),
                             " and ", adaptor.getWeights().getType());
  types.push_back(tensorOf({x[0], weights[2]}, elementTypeOf(adaptor.getX())));
  return success();
}

bool GroupedMatmulOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange found) {
  return isProductTensor(found[0], inferred[0]);
}

LogicalResult GroupedMatmulOp::verify() {
  if (failed(verifyRanks(*this, {{getX(), 2}, {getWeights(), 3}, {getEnds(), 1}})))
    return failure();
  if (shapeOf(getX())[1] != shapeOf(getWeights())[1] ||
      elementTypeOf(getX()) != elementTypeOf(getWeights())) {
    auto diag = emitOpError("needs weights for its rows, found ") << getWeights().getType();
    diag.attachNote(getX().getLoc()) << "the rows are " << getX().getType();
    return diag;
  }
  return verifyGroups(*this, getWeights());
}

LogicalResult GroupedWeightGradOp::verify() {
  if (failed(verifyRanks(*this, {{getX(), 2}, {getGrad(), 2}, {getResult(), 3}, {getEnds(), 1}})))
    return failure();
  Shape x = shapeOf(getX()), grad = shapeOf(getGrad()), result = shapeOf(getResult());
  if (x[0] != grad[0] || elementTypeOf(getX()) != elementTypeOf(getGrad())) {
    auto diag = emitOpError("needs a gradient per row, found ") << getGrad().getType();
    diag.attachNote(getX().getLoc()) << "the rows are " << getX().getType();
    return diag;
  }
  const Type expected = tensorOf({result[0], x[1], grad[1]}, elementTypeOf(getX()));
  if (!isProductTensor(getType(), expected))
    return emitOpError("needs a result like ") << expected << ", found " << getType();
  return verifyGroups(*this, getResult());
}

// -- rules ----------------------------------------------------------------------------------------

namespace {

// The factors of both ops; the groups that `ends` describes are a factor of their own, since every
// rank needs all ends.
enum { kRows, kIn, kOut, kGroups, kEnds };

// `inGroups` are the groups of weights or of their gradient. The offsets are scalars.
FactorRule ruleOf(Operation *op, const Polynomial &rows, const Polynomial &in,
                  const Polynomial &out, const Polynomial &inGroups, const Polynomial &ends,
                  std::initializer_list<int> reduced) {
  FactorRule rule;
  rule.factors = {{rows}, {in}, {out}, {inGroups}, {ends, FactorKind::Replicated}};
  for (int factor : reduced)
    rule.factors[factor].kind = FactorKind::Reduction;
  rule.operands.resize(op->getNumOperands());
  rule.operands[0] = {{kRows}, {kIn}};
  rule.operands[2] = {{kEnds}};
  return rule;
}

} // namespace

// Ranks that hold some of the groups compute 0 for the rows of others.
FactorRule GroupedMatmulOp::getFactorRule() {
  Shape x = shapeOf(getX()), weights = shapeOf(getWeights());
  FactorRule rule =
      ruleOf(*this, x[0], x[1], weights[2], weights[0], shapeOf(getEnds())[0], {kIn, kGroups});
  rule.operands[1] = {{kGroups}, {kIn}, {kOut}};
  rule.results = {{{kRows}, {kOut}}};
  return rule;
}

FactorRule GroupedWeightGradOp::getFactorRule() {
  Shape x = shapeOf(getX()), result = shapeOf(getResult());
  FactorRule rule = ruleOf(*this, x[0], x[1], result[2], result[0], shapeOf(getEnds())[0], {kRows});
  rule.operands[1] = {{kRows}, {kOut}};
  rule.results = {{{kGroups}, {kIn}, {kOut}}};
  return rule;
}

// A row meets the matrix of one group. A rank that has some of the groups has as large a share of
// the rows if all groups have equally many.
template <typename Op>
static Polynomial flopsOf(Op op, const Polynomial &outputs, const Polynomial &groups) {
  const Polynomial flops = Polynomial(2) * elementCount(op.getX().getType()) * outputs;
  const std::optional<int64_t> whole = shapeOf(op.getEnds())[0].constant();
  return op.getFirstGroup() && whole && *whole > 0 ? (flops * groups).floorDividedBy(*whole)
                                                   : flops;
}
Polynomial GroupedMatmulOp::getFlops() {
  const Shape weights = shapeOf(getWeights());
  return flopsOf(*this, weights[2], weights[0]);
}
Polynomial GroupedWeightGradOp::getFlops() {
  const Shape result = shapeOf(getResult());
  return flopsOf(*this, result[2], result[0]);
}

template <typename Op> static GroupedSizes sizesOf(Op op, Value matrices) {
  const std::vector<int64_t> sizes = staticShapeOf(matrices);
  return {.rows = staticShapeOf(op.getX())[0],
          .inputs = sizes[1],
          .outputs = sizes[2],
          .groups = sizes[0],
          .wholeGroups = staticShapeOf(op.getEnds())[0],
          .isWeightGradient = std::is_same_v<Op, GroupedWeightGradOp>};
}

std::optional<GroupedSizes> groupedSizes(Operation *op) {
  if (auto product = dyn_cast<GroupedMatmulOp>(op))
    return sizesOf(product, product.getWeights());
  if (auto gradient = dyn_cast<GroupedWeightGradOp>(op))
    return sizesOf(gradient, gradient.getResult());
  return std::nullopt;
}

template <typename Op>
static SmallVector<Value> partitionGroups(Op op, OpBuilder &b, ValueRange operands, TypeRange types,
                                          llvm::function_ref<Value(unsigned)> blockOffset) {
  Value row = blockOffset(kRows), group = blockOffset(kGroups);
  SmallVector<Value> results = cloneWith(b, op, operands, types);
  auto local = cast<Op>(results[0].getDefiningOp());
  if (row) {
    local.getFirstRowMutable().assign(row);
    local.setWholeRows(*shapeOf(op.getX())[0].constant());
  }
  if (group)
    local.getFirstGroupMutable().assign(group);
  return results;
}

SmallVector<Value> GroupedMatmulOp::partition(OpBuilder &b, ValueRange operands, TypeRange types,
                                              llvm::function_ref<Value(unsigned)> blockOffset) {
  return partitionGroups(*this, b, operands, types, blockOffset);
}
SmallVector<Value> GroupedWeightGradOp::partition(OpBuilder &b, ValueRange operands,
                                                  TypeRange types,
                                                  llvm::function_ref<Value(unsigned)> blockOffset) {
  return partitionGroups(*this, b, operands, types, blockOffset);
}

// -- evaluation -----------------------------------------------------------------------------------

namespace {

// The rows of the groups of one op, counted in its own rows.
class GroupRows {
public:
  // `operands` are those of `op`, which has matrices of `groups` groups, and `rows` rows.
  template <typename Op> GroupRows(Op op, ArrayRef<Tensor> operands, int64_t groups, int64_t rows) {
    const Tensor &ends = operands[2];
    size_t next = 3;
    const auto firstRow = static_cast<int64_t>(op.getFirstRow() ? operands[next++].values[0] : 0);
    const auto firstGroup = static_cast<int64_t>(op.getFirstGroup() ? operands[next].values[0] : 0);
    const auto last = static_cast<int64_t>(ends.values.size());
    // The end of the groups before `group`, as a row of this op.
    auto boundOf = [&](int64_t group) {
      const double end = group == 0 ? 0 : ends.values[group - 1];
      return std::clamp<int64_t>(static_cast<int64_t>(end) - firstRow, 0, rows);
    };
    for (int64_t group = firstGroup; group < firstGroup + groups; ++group)
      if (group < last)
        rows_.emplace_back(boundOf(group), boundOf(group + 1));
  }

  // Calls each(group, row) for all rows in groups.
  void forEach(llvm::function_ref<void(int64_t, int64_t)> each) const {
    for (auto [group, rows] : llvm::enumerate(rows_))
      for (int64_t row = rows.first; row < rows.second; ++row)
        each(static_cast<int64_t>(group), row);
  }

private:
  std::vector<std::pair<int64_t, int64_t>> rows_;
};

} // namespace

SmallVector<Tensor> GroupedMatmulOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &x = operands[0], &weights = operands[1];
  const int64_t rows = x.shape[0], in = x.shape[1], out = weights.shape[2];
  Tensor result(toElementType(elementTypeOf(getType())), {rows, out});
  GroupRows(*this, operands, weights.shape[0], rows).forEach([&](int64_t group, int64_t row) {
    for (int64_t o = 0; o < out; ++o) {
      double sum = 0;
      for (int64_t i = 0; i < in; ++i)
        sum += x.values[row * in + i] * weights.values[(group * in + i) * out + o];
      result.set(row * out + o, sum);
    }
  });
  return {result};
}

SmallVector<Tensor> GroupedWeightGradOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &x = operands[0], &grad = operands[1];
  const int64_t rows = x.shape[0], in = x.shape[1], out = grad.shape[1];
  const int64_t groups = operands[2].shape[0];
  const int64_t held = shapeOf(getResult())[0].constant().value_or(groups);
  std::vector<double> sums(held * in * out, 0);
  GroupRows(*this, operands, held, rows).forEach([&](int64_t group, int64_t row) {
    for (int64_t i = 0; i < in; ++i)
      for (int64_t o = 0; o < out; ++o)
        sums[(group * in + i) * out + o] += x.values[row * in + i] * grad.values[row * out + o];
  });
  Tensor result(toElementType(elementTypeOf(getType())), {held, in, out});
  for (size_t i = 0; i < sums.size(); ++i)
    result.set(static_cast<int64_t>(i), sums[i]);
  return {result};
}

// -- decomposition --------------------------------------------------------------------------------

// Both devices multiply the rows of each group. Where GPUs do not, all groups are multiplied and
// masked.
template <typename Op> static bool hasGpuKernelFor(Op op) {
  const Type type = elementTypeOf(op.getX());
  auto isEmpty = [](Value value) {
    return llvm::any_of(shapeOf(value), [](const Polynomial &size) { return size == 0; });
  };
  return (type.isF32() || type.isBF16() || type.isF16()) &&
         llvm::none_of(op->getOperands(), isEmpty) && !isEmpty(op.getResult());
}
bool GroupedMatmulOp::hasKernel() { return true; }
bool GroupedWeightGradOp::hasKernel() { return true; }
bool GroupedMatmulOp::hasGpuKernel() { return hasGpuKernelFor(*this); }
bool GroupedWeightGradOp::hasGpuKernel() { return hasGpuKernelFor(*this); }

// `ends[g + shift]` for each of `groups` groups, and 0 before the first end and behind the last.
template <typename Op>
static Value buildEnds(OpBuilder &b, Op op, const Polynomial &groups, double shift) {
  Location loc = op.getLoc();
  const Type type = tensorOf({groups}, b.getI64Type());
  Value at = IotaOp::create(b, loc, type, 0);
  if (Value first = op.getFirstGroup())
    at = AddOp::create(b, loc, at, buildBroadcast(b, loc, first, {groups}));
  if (shift != 0)
    at = AddOp::create(b, loc, at, buildSplat(b, loc, type, shift));
  return buildCast(b, GatherOp::create(b, loc, op.getEnds(), at, 0, 0), b.getI64Type());
}

// x with a copy per group [rows, groups, in], which is 0 outside of the rows of the group.
template <typename Op> static Value buildMasked(OpBuilder &b, Op op, const Polynomial &groups) {
  Location loc = op.getLoc();
  Value x = op.getX();
  const Shape shape = shapeOf(x), pairs = {shape[0], groups}, parts = {shape[0], groups, shape[1]};
  Value row = IotaOp::create(b, loc, tensorOf(pairs, b.getI64Type()), 0);
  if (Value first = op.getFirstRow())
    row = AddOp::create(b, loc, row, buildBroadcast(b, loc, first, pairs));
  auto bound = [&](double shift) {
    return buildBroadcast(b, loc, buildEnds(b, op, groups, shift), pairs);
  };
  Value isBehind = CompareOp::create(b, loc, Predicate::GE, row, bound(-1));
  Value isBefore = CompareOp::create(b, loc, Predicate::LT, row, bound(0));
  Value inside = AndOp::create(b, loc, isBehind, isBefore);
  inside = buildBroadcast(b, loc, buildReshape(b, inside, {shape[0], groups, 1}), parts);
  Value copies = buildBroadcast(b, loc, buildReshape(b, x, {shape[0], 1, shape[1]}), parts);
  return SelectOp::create(b, loc, inside, copies, buildSplatLike(b, copies, 0));
}

SmallVector<Value> GroupedMatmulOp::decompose(OpBuilder &b) {
  Value masked = buildMasked(b, *this, shapeOf(getWeights())[0]);
  return {buildDot(b, getLoc(), elementTypeOf(getType()), masked, getWeights(), {}, {}, {1, 2},
                   {0, 1})};
}

SmallVector<Value> GroupedWeightGradOp::decompose(OpBuilder &b) {
  Value masked = buildMasked(b, *this, shapeOf(getResult())[0]);
  return {buildDot(b, getLoc(), elementTypeOf(getType()), masked, getGrad(), {}, {}, {0}, {0})};
}

} // namespace cleave::graph
