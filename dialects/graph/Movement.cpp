// Movement: shapes, factor rules and evaluation of the movement ops, except reshape (Reshape.cpp).
#include "dialects/graph/Movement.h"

#include "dialects/graph/Graph.h"
#include "dialects/graph/Lines.h"

using namespace mlir;

namespace cleave::graph {

// A rule in which operand and result share the factor of every dim except those in `whole`, where
// both have an unsplittable factor of their own size.
static FactorRule alongDims(Value operand, Value result, ArrayRef<int64_t> whole) {
  Shape in = shapeOf(operand), out = shapeOf(result);
  FactorRule rule;
  FactorRule::Dims inDims, outDims;
  auto factor = [&](const Polynomial &size, FactorKind kind) {
    rule.factors.push_back({size, kind});
    return static_cast<int>(rule.factors.size()) - 1;
  };
  for (size_t d = 0; d < in.size(); ++d) {
    if (!llvm::is_contained(whole, static_cast<int64_t>(d))) {
      inDims.push_back({factor(in[d], FactorKind::PassThrough)});
      outDims.push_back(inDims.back());
      continue;
    }
    inDims.push_back({factor(in[d], FactorKind::Replicated)});
    outDims.push_back({factor(out[d], FactorKind::Replicated)});
  }
  rule.operands = {inDims};
  rule.results = {outDims};
  rule.linear = true;
  return rule;
}

LogicalResult verifySameElement(Operation *op, Value operand, Value result) {
  if (elementTypeOf(operand) != elementTypeOf(result)) {
    auto diag = op->emitOpError() << "moves elements of type " << elementTypeOf(operand)
                                  << " to a result of " << elementTypeOf(result);
    diag.attachNote(operand.getLoc()) << "the operand comes from here";
    return diag;
  }
  return success();
}

// Verifies that operand and result differ in dim `dim` only.
static LogicalResult verifyOtherDims(Operation *op, Value operand, Value result, int64_t dim) {
  Shape in = shapeOf(operand), out = shapeOf(result);
  if (failed(verifySameElement(op, operand, result)))
    return failure();
  if (in.size() != out.size())
    return op->emitOpError() << "has an operand of rank " << in.size() << " and a result of rank "
                             << out.size();
  if (dim < 0 || dim >= static_cast<int64_t>(in.size()))
    return op->emitOpError() << "acts on dim " << dim << " of a tensor of rank " << in.size();
  for (size_t d = 0; d < in.size(); ++d)
    if (static_cast<int64_t>(d) != dim && in[d] != out[d]) {
      auto diag = op->emitOpError() << "changes dim " << d << " from " << in[d].str() << " to "
                                    << out[d].str() << ", but acts on dim " << dim;
      diag.attachNote(operand.getLoc()) << "the operand has type " << operand.getType();
      return diag;
    }
  return success();
}

// -- transpose ------------------------------------------------------------------------------------

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  Shape in = shapeOf(adaptor.getOperand()), out;
  for (int64_t dim : adaptor.getPermutation())
    out.push_back(in[dim]);
  types.push_back(tensorOf(out, elementTypeOf(adaptor.getOperand())));
  return success();
}

LogicalResult TransposeOp::verify() {
  SmallVector<int64_t> sorted(getPermutation());
  llvm::sort(sorted);
  bool isPermutation = static_cast<int64_t>(sorted.size()) == rankOf(getOperand());
  for (size_t i = 0; i < sorted.size(); ++i)
    isPermutation &= sorted[i] == static_cast<int64_t>(i);
  if (!isPermutation) {
    auto diag = emitOpError() << "needs a permutation of its operand's " << rankOf(getOperand())
                              << " dims";
    diag.attachNote(getOperand().getLoc()) << "the operand has type " << getOperand().getType();
    return diag;
  }
  return success();
}

FactorRule TransposeOp::getFactorRule() {
  FactorRule rule;
  FactorRule::Dims in, out;
  for (auto [d, size] : llvm::enumerate(shapeOf(getOperand()))) {
    rule.factors.push_back({size});
    in.push_back({static_cast<int>(d)});
  }
  for (int64_t dim : getPermutation())
    out.push_back({static_cast<int>(dim)});
  rule.operands = {in};
  rule.results = {out};
  rule.linear = true;
  return rule;
}
Polynomial TransposeOp::getFlops() { return 0; }

SmallVector<Tensor> TransposeOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &operand = operands[0];
  std::vector<int64_t> shape, strides, inStrides = operand.strides();
  for (int64_t dim : getPermutation()) {
    shape.push_back(operand.shape[dim]);
    strides.push_back(inStrides[dim]);
  }
  Tensor result(operand.type, shape);
  int64_t i = 0;
  forEachIndex(shape, [&](const auto &index) {
    result.values[i++] = operand.values[linearIndex(index, strides)];
  });
  return {result};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::is_sorted(getPermutation()))
    return getOperand();
  auto inner = getOperand().getDefiningOp<TransposeOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> permutation;
  for (int64_t dim : getPermutation())
    permutation.push_back(inner.getPermutation()[dim]);
  setOperand(inner.getOperand());
  setPermutation(permutation);
  return getResult();
}

// -- broadcast ------------------------------------------------------------------------------------

LogicalResult BroadcastOp::verify() {
  Shape in = shapeOf(getOperand()), out = shapeOf(getResult());
  if (getDims().size() != in.size()) {
    auto diag = emitOpError() << "names " << getDims().size() << " dims for an operand of rank "
                              << in.size();
    diag.attachNote(getOperand().getLoc()) << "the operand has type " << getOperand().getType();
    return diag;
  }
  if (failed(verifySameElement(*this, getOperand(), getResult())))
    return failure();
  SmallVector<int64_t> seen;
  for (auto [d, dim] : llvm::enumerate(getDims())) {
    if (dim < 0 || dim >= static_cast<int64_t>(out.size()) || llvm::is_contained(seen, dim))
      return emitOpError() << "maps operand dim " << d << " to result dim " << dim
                           << ", which is taken or does not exist";
    if (in[d] != out[dim]) {
      auto diag = emitOpError() << "maps operand dim " << d << " of size " << in[d].str()
                                << " to result dim " << dim << " of size " << out[dim].str();
      diag.attachNote(getOperand().getLoc()) << "the operand has type " << getOperand().getType();
      return diag;
    }
    seen.push_back(dim);
  }
  return success();
}

FactorRule BroadcastOp::getFactorRule() {
  FactorRule rule;
  FactorRule::Dims in, out;
  for (auto [d, size] : llvm::enumerate(shapeOf(getResult()))) {
    rule.factors.push_back({size});
    out.push_back({static_cast<int>(d)});
  }
  for (int64_t dim : getDims())
    in.push_back({static_cast<int>(dim)});
  rule.operands = {in};
  rule.results = {out};
  rule.linear = true;
  return rule;
}
Polynomial BroadcastOp::getFlops() { return 0; }

SmallVector<Tensor> BroadcastOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &operand = operands[0];
  Tensor result(operand.type, staticShapeOf(getType()));
  std::vector<int64_t> strides(result.shape.size(), 0), inStrides = operand.strides();
  for (auto [d, dim] : llvm::enumerate(getDims()))
    strides[dim] = inStrides[d];
  int64_t i = 0;
  forEachIndex(result.shape, [&](const auto &index) {
    result.values[i++] = operand.values[linearIndex(index, strides)];
  });
  return {result};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType() && llvm::is_sorted(getDims()))
    return getOperand();
  auto inner = getOperand().getDefiningOp<BroadcastOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> dims;
  for (int64_t dim : inner.getDims())
    dims.push_back(getDims()[dim]);
  setOperand(inner.getOperand());
  setDims(dims);
  return getResult();
}

// -- slice ----------------------------------------------------------------------------------------

// A position in a dim as attributes: a number and, if it is symbolic, a polynomial as text.
static std::pair<int64_t, StringAttr> placeOf(OpBuilder &b, const Polynomial &place) {
  if (std::optional<int64_t> number = place.constant())
    return {*number, StringAttr()};
  return {0, b.getStringAttr(place.str())};
}

static Polynomial placeOf(int64_t number, std::optional<StringRef> text) {
  return Polynomial(number) + (text ? *Polynomial::parse(text->str()) : Polynomial());
}

static LogicalResult verifyPlace(Operation *op, std::optional<StringRef> text) {
  if (text && !Polynomial::parse(text->str()))
    return op->emitOpError() << "needs a polynomial of symbols, found '" << *text << "'";
  return success();
}

// Whether the size is less than 0 for all values of its symbols.
static bool isNegative(const Polynomial &size) { return size.atMost(1).value_or(0) < 0; }

void SliceOp::build(OpBuilder &b, OperationState &state, Type result, Value operand, int64_t dim,
                    const Polynomial &start, int64_t stride) {
  auto [number, text] = placeOf(b, start);
  build(b, state, result, operand, dim, number, stride, text);
}

Polynomial SliceOp::startSize() { return placeOf(getStart(), getSymbolicStart()); }

LogicalResult SliceOp::verify() {
  if (failed(verifyPlace(*this, getSymbolicStart())))
    return failure();
  Polynomial start = startSize();
  if (getStride() < 1 || isNegative(start))
    return emitOpError() << "needs a positive stride and a start of at least 0, found "
                         << getStride() << " and " << start.str();
  if (failed(verifyOtherDims(*this, getOperand(), getResult(), getDim())))
    return failure();
  Polynomial size = shapeOf(getOperand())[getDim()], taken = shapeOf(getResult())[getDim()];
  Polynomial last = start + (taken - 1) * static_cast<int64_t>(getStride());
  if (taken != Polynomial() && isNegative(size - 1 - last)) {
    auto diag = emitOpError() << "reads element " << last.str() << " of a dim of size "
                              << size.str();
    diag.attachNote(getOperand().getLoc()) << "the operand has type " << getOperand().getType();
    return diag;
  }
  return success();
}
FactorRule SliceOp::getFactorRule() {
  return alongDims(getOperand(), getResult(), {static_cast<int64_t>(getDim())});
}
Polynomial SliceOp::getFlops() { return 0; }

SmallVector<Tensor> SliceOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &operand = operands[0];
  std::vector<int64_t> shape = operand.shape, strides = operand.strides();
  shape[getDim()] = staticShapeOf(getType())[getDim()];
  assert(!getSymbolicStart() && "symbols must have been bound");
  Tensor result(operand.type, shape);
  int64_t i = 0, offset = getStart() * strides[getDim()];
  strides[getDim()] *= getStride();
  forEachIndex(shape, [&](const auto &index) {
    result.values[i++] = operand.values[offset + linearIndex(index, strides)];
  });
  return {result};
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

// -- pad ------------------------------------------------------------------------------------------

void PadOp::build(OpBuilder &b, OperationState &state, Type result, Value operand, int64_t dim,
                  const Polynomial &low, int64_t interior, double value) {
  auto [number, text] = placeOf(b, low);
  build(b, state, result, operand, b.getI64IntegerAttr(dim), b.getI64IntegerAttr(number),
        b.getI64IntegerAttr(interior), b.getF64FloatAttr(value), text);
}

Polynomial PadOp::lowSize() { return placeOf(getLow(), getSymbolicLow()); }

LogicalResult PadOp::verify() {
  if (failed(verifyPlace(*this, getSymbolicLow())))
    return failure();
  Polynomial low = lowSize();
  if (isNegative(low) || static_cast<int64_t>(getInterior()) < 0)
    return emitOpError() << "cannot remove elements; slice does";
  if (failed(verifyOtherDims(*this, getOperand(), getResult(), getDim())))
    return failure();
  Polynomial size = shapeOf(getOperand())[getDim()], padded = shapeOf(getResult())[getDim()];
  Polynomial needed = low;
  if (size != Polynomial())
    needed += (size - 1) * static_cast<int64_t>(getInterior() + 1) + 1;
  if (isNegative(padded - needed)) {
    auto diag = emitOpError() << "needs at least " << needed.str()
                              << " elements, but its result has " << padded.str();
    diag.attachNote(getOperand().getLoc())
        << "the operand has " << size.str() << " elements along dim " << getDim();
    return diag;
  }
  return success();
}
FactorRule PadOp::getFactorRule() {
  FactorRule rule = alongDims(getOperand(), getResult(), {static_cast<int64_t>(getDim())});
  rule.linear = getValue().isZero();
  return rule;
}
Polynomial PadOp::getFlops() { return 0; }

SmallVector<Tensor> PadOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &operand = operands[0];
  std::vector<int64_t> shape = operand.shape;
  shape[getDim()] = staticShapeOf(getType())[getDim()];
  assert(!getSymbolicLow() && "symbols must have been bound");
  Tensor result(operand.type, shape, getValue().convertToDouble());
  std::vector<int64_t> strides = result.strides();
  int64_t i = 0, offset = getLow() * strides[getDim()];
  strides[getDim()] *= getInterior() + 1;
  forEachIndex(operand.shape, [&](const auto &index) {
    result.values[offset + linearIndex(index, strides)] = operand.values[i++];
  });
  return {result};
}

// -- concat ---------------------------------------------------------------------------------------

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(adaptor.getOperands()[0]);
  for (Value operand : adaptor.getOperands().drop_front())
    shape[adaptor.getDim()] += shapeOf(operand)[adaptor.getDim()];
  types.push_back(tensorOf(shape, elementTypeOf(adaptor.getOperands()[0])));
  return success();
}

LogicalResult ConcatOp::verify() {
  if (getOperands().empty())
    return emitOpError() << "has no operands, expected at least one";
  Polynomial size(0);
  for (Value operand : getOperands()) {
    if (failed(verifyOtherDims(*this, operand, getResult(), getDim())))
      return failure();
    size += shapeOf(operand)[getDim()];
  }
  if (size != shapeOf(getResult())[getDim()]) {
    auto diag = emitOpError() << "has " << size.str() << " elements along dim " << getDim()
                              << ", but its result " << shapeOf(getResult())[getDim()].str();
    for (Value operand : getOperands())
      diag.attachNote(operand.getLoc())
          << "this operand has " << shapeOf(operand)[getDim()].str() << " of them";
    return diag;
  }
  return success();
}

FactorRule ConcatOp::getFactorRule() {
  FactorRule rule = alongDims(getOperands()[0], getResult(), {static_cast<int64_t>(getDim())});
  for (Value operand : getOperands().drop_front()) {
    FactorRule::Dims dims = rule.operands[0];
    dims[getDim()] = {static_cast<int>(rule.factors.size())};
    rule.factors.push_back({shapeOf(operand)[getDim()], FactorKind::Replicated});
    rule.operands.push_back(dims);
  }
  return rule;
}
Polynomial ConcatOp::getFlops() { return 0; }

SmallVector<Tensor> ConcatOp::evaluate(ArrayRef<Tensor> operands) {
  std::vector<int64_t> shape = operands[0].shape;
  for (const Tensor &operand : operands.drop_front())
    shape[getDim()] += operand.shape[getDim()];
  Tensor result(operands[0].type, shape);
  std::vector<int64_t> strides = result.strides();
  int64_t offset = 0;
  for (const Tensor &operand : operands) {
    int64_t i = 0;
    forEachIndex(operand.shape, [&](const auto &index) {
      result.values[offset + linearIndex(index, strides)] = operand.values[i++];
    });
    offset += operand.shape[getDim()] * strides[getDim()];
  }
  return {result};
}

// -- reverse --------------------------------------------------------------------------------------

LogicalResult ReverseOp::verify() { return verifyDim(*this, getDim()); }

FactorRule ReverseOp::getFactorRule() {
  return alongDims(getOperand(), getResult(), {static_cast<int64_t>(getDim())});
}
Polynomial ReverseOp::getFlops() { return 0; }

SmallVector<Tensor> ReverseOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &operand = operands[0];
  Tensor result(operand.type, operand.shape);
  std::vector<int64_t> strides = operand.strides();
  int64_t i = 0, last = operand.shape[getDim()] - 1;
  forEachIndex(operand.shape, [&](std::vector<int64_t> index) {
    index[getDim()] = last - index[getDim()];
    result.values[i++] = operand.values[linearIndex(index, strides)];
  });
  return {result};
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Movement.cpp.inc"

void cleave::graph::GraphDialect::addMovementOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Movement.cpp.inc"
      >();
}
