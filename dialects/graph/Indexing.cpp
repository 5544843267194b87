// Indexing: gather and scatter.
#include "dialects/graph/Build.h"
#include "dialects/graph/Pointwise.h"

using namespace mlir;

namespace cleave::graph {

// The shape of the rows that `indices` select along `dim` of a table of this shape.
static Shape rowsOf(const Shape &table, const Shape &indices, int64_t dim, int64_t batch) {
  Shape rows(table.begin(), table.begin() + dim);
  rows.insert(rows.end(), indices.begin() + batch, indices.end());
  rows.insert(rows.end(), table.begin() + dim + 1, table.end());
  return rows;
}

static LogicalResult verifyDims(Operation *op, Value table, Value indices, int64_t dim,
                                int64_t batch) {
  Shape shape = shapeOf(table), chosen = shapeOf(indices);
  auto rank = static_cast<int64_t>(shape.size());
  if (dim < 0 || dim >= rank)
    return op->emitOpError() << "acts on dim " << dim << " of a tensor of rank " << rank;
  if (batch < 0 || batch > dim || batch > static_cast<int64_t>(chosen.size()) ||
      !std::equal(shape.begin(), shape.begin() + batch, chosen.begin())) {
    auto diag = op->emitOpError() << "needs " << batch << " equal leading dims before dim " << dim
                                  << ", found indices " << indices.getType();
    diag.attachNote(table.getLoc()) << "the table has type " << table.getType();
    diag.attachNote(indices.getLoc()) << "the indices come from here";
    return diag;
  }
  return success();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Shape operand = shapeOf(adaptor.getOperand()), indices = shapeOf(adaptor.getIndices());
  int64_t dim = adaptor.getDim(), batch = adaptor.getBatch();
  if (dim < 0 || dim >= static_cast<int64_t>(operand.size()) || batch < 0 ||
      batch > static_cast<int64_t>(indices.size()))
    return failure();
  types.push_back(
      tensorOf(rowsOf(operand, indices, dim, batch), elementTypeOf(adaptor.getOperand())));
  return success();
}

LogicalResult GatherOp::verify() {
  return verifyDims(*this, getOperand(), getIndices(), getDim(), getBatch());
}

LogicalResult ScatterOp::verify() {
  if (failed(verifyDims(*this, getResult(), getIndices(), getDim(), getBatch())))
    return failure();
  Shape rows = rowsOf(shapeOf(getResult()), shapeOf(getIndices()), getDim(), getBatch());
  if (rows != shapeOf(getUpdates()) || elementTypeOf(getUpdates()) != elementTypeOf(getResult())) {
    auto diag =
        emitOpError() << "needs updates like its result with the indices' dims in place of dim "
                      << getDim() << ", found " << getUpdates().getType();
    diag.attachNote(getUpdates().getLoc())
        << "expected " << tensorOf(rows, elementTypeOf(getResult()));
    diag.attachNote(getIndices().getLoc()) << "the indices have type " << getIndices().getType();
    return diag;
  }
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

static IndexDims indexDims(const Shape &table, const Shape &indices, int64_t dim, int64_t batch) {
  IndexDims dims;
  auto factor = [&](const Polynomial &size) {
    dims.factors.push_back({size});
    return static_cast<int>(dims.factors.size()) - 1;
  };
  for (int64_t d = 0; d < static_cast<int64_t>(table.size()); ++d) {
    dims.table.push_back({factor(table[d])});
    if (d < batch)
      dims.indices.push_back(dims.table.back());
    if (d != dim) {
      dims.rows.push_back(dims.table.back());
      continue;
    }
    dims.tableFactor = dims.table.back()[0];
    for (const Polynomial &size : llvm::drop_begin(indices, batch)) {
      dims.indices.push_back({factor(size)});
      dims.rows.push_back(dims.indices.back());
    }
  }
  return dims;
}

FactorRule GatherOp::getFactorRule() {
  IndexDims dims = indexDims(shapeOf(getOperand()), shapeOf(getIndices()), getDim(), getBatch());
  dims.factors[dims.tableFactor].kind = FactorKind::Reduction;
  return {dims.factors, {dims.table, dims.indices}, {dims.rows}, false};
}

FactorRule ScatterOp::getFactorRule() {
  IndexDims dims = indexDims(shapeOf(getResult()), shapeOf(getIndices()), getDim(), getBatch());
  for (const auto &dim : llvm::drop_begin(dims.indices, getBatch())) {
    // Partial products have no collective: the dim stays whole.
    Factor &factor = dims.factors[dim[0]];
    factor.kind = getKind() == Reduction::Prod ? FactorKind::Replicated : FactorKind::Reduction;
    if (getKind() != Reduction::Prod)
      factor.reduce = static_cast<ReduceKind>(getKind());
  }
  return {dims.factors, {dims.rows, dims.indices}, {dims.table}, false};
}

Polynomial GatherOp::getFlops() { return 0; }
Polynomial ScatterOp::getFlops() { return elementCount(getUpdates().getType()); }

// Indices relative to this rank's block of the table.
static Value relativeIndices(OpBuilder &b, Location loc, Value indices, Value offset) {
  if (!offset)
    return indices;
  // Unsigned differences would wrap around to valid indices.
  Value wide = buildCast(b, indices, b.getI64Type());
  return SubOp::create(b, loc, wide, buildBroadcast(b, loc, offset, shapeOf(indices)));
}

SmallVector<Value> GatherOp::partition(OpBuilder &b, ValueRange operands, TypeRange types,
                                       llvm::function_ref<Value(unsigned)> blockOffset) {
  int factor = getFactorRule().operands[0][getDim()][0];
  Value indices = relativeIndices(b, getLoc(), operands[1], blockOffset(factor));
  return cloneWith(b, *this, {operands[0], indices}, types);
}

SmallVector<Value> ScatterOp::partition(OpBuilder &b, ValueRange operands, TypeRange types,
                                        llvm::function_ref<Value(unsigned)> blockOffset) {
  int factor = getFactorRule().results[0][getDim()][0];
  Value indices = relativeIndices(b, getLoc(), operands[1], blockOffset(factor));
  return cloneWith(b, *this, {operands[0], indices}, types);
}

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

// Visits (row position, table position) for every element whose index is in range.
static void forEachRow(const Tensor &indices, ArrayRef<int64_t> table, int64_t dim, int64_t batch,
                       llvm::function_ref<void(int64_t, int64_t)> visit) {
  int64_t batches = product(table.take_front(batch)),
          outer = product(table.slice(batch, dim - batch)),
          inner = product(table.drop_front(dim + 1)), rows = table[dim],
          count = product(ArrayRef<int64_t>(indices.shape).drop_front(batch));
  for (int64_t o = 0; o < batches * outer; ++o)
    for (int64_t i = 0; i < count; ++i) {
      double number = indices.values[o / outer * count + i];
      if (!(number >= 0 && number < static_cast<double>(rows)))
        continue;
      auto index = static_cast<int64_t>(number);
      for (int64_t c = 0; c < inner; ++c)
        visit((o * count + i) * inner + c, (o * rows + index) * inner + c);
    }
}

SmallVector<Tensor> GatherOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &table = operands[0], &indices = operands[1];
  std::vector<int64_t> shape(table.shape.begin(), table.shape.begin() + getDim());
  shape.insert(shape.end(), indices.shape.begin() + getBatch(), indices.shape.end());
  shape.insert(shape.end(), table.shape.begin() + getDim() + 1, table.shape.end());
  Tensor result(table.type, shape);
  forEachRow(indices, table.shape, getDim(), getBatch(),
             [&](int64_t row, int64_t entry) { result.values[row] = table.values[entry]; });
  return {result};
}

SmallVector<Tensor> ScatterOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &updates = operands[0];
  Tensor result(updates.type, staticShapeOf(getType()));
  double start = roundTo(updates.type, identityOf(getKind()));
  bool isTruth = updates.type == ElementType::Bool; // the least truth value is false
  result.values.assign(result.size(), isTruth && getKind() == Reduction::Max ? 0 : start);
  forEachRow(operands[1], result.shape, getDim(), getBatch(), [&](int64_t row, int64_t entry) {
    result.values[entry] = combine(getKind(), result.values[entry], updates.values[row]);
  });
  for (int64_t i = 0; i < result.size(); ++i)
    result.set(i, result.values[i]);
  return {result};
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Indexing.cpp.inc"

void cleave::graph::GraphDialect::addIndexingOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Indexing.cpp.inc"
      >();
}
