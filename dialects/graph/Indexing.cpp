// Indexing: gather and scatter_add.
#include "dialects/graph/Build.h"

using namespace mlir;

namespace cleave::graph {

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Shape operand = shapeOf(adaptor.getOperand()), indices = shapeOf(adaptor.getIndices());
  int64_t dim = adaptor.getDim();
  Shape result(operand.begin(), operand.begin() + dim);
  llvm::append_range(result, indices);
  result.insert(result.end(), operand.begin() + dim + 1, operand.end());
  types.push_back(tensorOf(result, elementTypeOf(adaptor.getOperand())));
  return success();
}

static LogicalResult verifyDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim < 0 || dim >= rank)
    return op->emitOpError() << "acts on dim " << dim << " of a tensor of rank " << rank;
  return success();
}

LogicalResult GatherOp::verify() { return verifyDim(*this, getDim(), rankOf(getOperand())); }

LogicalResult ScatterAddOp::verify() {
  if (failed(verifyDim(*this, getDim(), rankOf(getResult()))))
    return failure();
  int64_t expected = rankOf(getResult()) - 1 + rankOf(getIndices());
  if (rankOf(getUpdates()) != expected)
    return emitOpError() << "needs updates of rank " << expected << ", found "
                         << rankOf(getUpdates());
  Shape shape = shapeOf(getResult()), indices = shapeOf(getIndices());
  shape.erase(shape.begin() + getDim());
  shape.insert(shape.begin() + getDim(), indices.begin(), indices.end());
  if (shape != shapeOf(getUpdates()) || elementTypeOf(getUpdates()) != elementTypeOf(getResult()))
    return emitOpError() << "needs updates like its result with the indices' dims in place of dim "
                         << getDim() << ", found " << getUpdates().getType();
  return success();
}

namespace {
// The dims of table (what is gathered from), indices and rows (what is gathered), as factors.
struct IndexDims {
  std::vector<Factor> factors;
  FactorRule::Dims table, indices, rows;
  int tableFactor = 0; // the rows of the table
};
} // namespace

static IndexDims indexDims(const Shape &table, const Shape &indices, int64_t dim) {
  IndexDims dims;
  auto factor = [&](const Polynomial &size) {
    dims.factors.push_back({size});
    return static_cast<int>(dims.factors.size()) - 1;
  };
  for (size_t d = 0; d < table.size(); ++d) {
    dims.table.push_back({factor(table[d])});
    if (static_cast<int64_t>(d) != dim) {
      dims.rows.push_back(dims.table.back());
      continue;
    }
    dims.tableFactor = dims.table.back()[0];
    for (const Polynomial &size : indices) {
      dims.indices.push_back({factor(size)});
      dims.rows.push_back(dims.indices.back());
    }
  }
  return dims;
}

FactorRule GatherOp::getFactorRule() {
  IndexDims dims = indexDims(shapeOf(getOperand()), shapeOf(getIndices()), getDim());
  dims.factors[dims.tableFactor].kind = FactorKind::Reduction;
  return {dims.factors, {dims.table, dims.indices}, {dims.rows}, false};
}

FactorRule ScatterAddOp::getFactorRule() {
  IndexDims dims = indexDims(shapeOf(getResult()), shapeOf(getIndices()), getDim());
  for (const auto &dim : dims.indices)
    dims.factors[dim[0]].kind = FactorKind::Reduction;
  return {dims.factors, {dims.rows, dims.indices}, {dims.table}, false};
}

Polynomial GatherOp::getFlops() { return 0; }
Polynomial ScatterAddOp::getFlops() { return elementCount(getUpdates().getType()); }

// Indices relative to this rank's block of the table.
static Value relativeIndices(OpBuilder &b, Location loc, Value indices, Value offset) {
  if (!offset)
    return indices;
  Value cast = buildCast(b, offset, elementTypeOf(indices));
  return SubOp::create(b, loc, indices, buildBroadcast(b, loc, cast, shapeOf(indices)));
}

SmallVector<Value> GatherOp::partition(OpBuilder &b, ValueRange operands, TypeRange types,
                                       llvm::function_ref<Value(unsigned)> blockOffset) {
  int factor = getFactorRule().operands[0][getDim()][0];
  Value indices = relativeIndices(b, getLoc(), operands[1], blockOffset(factor));
  return cloneWith(b, *this, {operands[0], indices}, types);
}

SmallVector<Value> ScatterAddOp::partition(OpBuilder &b, ValueRange operands, TypeRange types,
                                           llvm::function_ref<Value(unsigned)> blockOffset) {
  int factor = getFactorRule().results[0][getDim()][0];
  Value indices = relativeIndices(b, getLoc(), operands[1], blockOffset(factor));
  return cloneWith(b, *this, {operands[0], indices}, types);
}

// Visits (row position, table position) for every element whose index is in range.
static void forEachRow(const Tensor &indices, const std::vector<int64_t> &tableShape, int64_t dim,
                       llvm::function_ref<void(int64_t, int64_t)> visit) {
  std::vector<int64_t> outer(tableShape.begin(), tableShape.begin() + dim);
  std::vector<int64_t> inner(tableShape.begin() + dim + 1, tableShape.end());
  int64_t outerSize = Tensor(ElementType::F64, outer).size(),
          innerSize = Tensor(ElementType::F64, inner).size();
  for (int64_t o = 0; o < outerSize; ++o)
    for (int64_t i = 0; i < indices.size(); ++i) {
      int64_t index = static_cast<int64_t>(indices.values[i]);
      if (index < 0 || index >= tableShape[dim])
        continue;
      for (int64_t c = 0; c < innerSize; ++c)
        visit((o * indices.size() + i) * innerSize + c,
              (o * tableShape[dim] + index) * innerSize + c);
    }
}

SmallVector<Tensor> GatherOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &table = operands[0], &indices = operands[1];
  std::vector<int64_t> shape(table.shape.begin(), table.shape.begin() + getDim());
  llvm::append_range(shape, indices.shape);
  shape.insert(shape.end(), table.shape.begin() + getDim() + 1, table.shape.end());
  Tensor result(table.type, shape);
  forEachRow(indices, table.shape, getDim(),
             [&](int64_t row, int64_t entry) { result.values[row] = table.values[entry]; });
  return {result};
}

SmallVector<Tensor> ScatterAddOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &updates = operands[0];
  Tensor result(updates.type, staticShapeOf(getType()));
  forEachRow(operands[1], result.shape, getDim(),
             [&](int64_t row, int64_t entry) { result.values[entry] += updates.values[row]; });
  for (int64_t i = 0; i < result.size(); ++i)
    result.set(i, result.values[i]);
  return {result};
}

} // namespace cleave::graph
