// Structure: constants, iota and accumulate. The kernel group is in Fusion.cpp.
#include "dialects/graph/Build.h"
#include "dialects/graph/Pointwise.h"

using namespace mlir;

namespace cleave::graph {

// -- constant -------------------------------------------------------------------------------------

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getValue().getShapedType());
  return success();
}
LogicalResult ConstantOp::verify() {
  if (getValue().getShapedType() != getType())
    return emitOpError() << "has elements of type " << getValue().getShapedType()
                         << ", but the result type " << getType();
  return success();
}
OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

// All ranks hold the same attribute, so a constant is not split unless all its elements are equal.
FactorRule ConstantOp::getFactorRule() {
  FactorRule rule = pointwiseRule(*this);
  auto elements = dyn_cast<DenseElementsAttr>(getValue());
  if (!elements || !elements.isSplat())
    for (Factor &factor : rule.factors)
      factor.kind = FactorKind::Replicated;
  return rule;
}
Polynomial ConstantOp::getFlops() { return 0; }

SmallVector<Value> ConstantOp::partition(OpBuilder &b, ValueRange, TypeRange types,
                                         llvm::function_ref<Value(unsigned)>) {
  if (types[0] == getType())
    return cloneWith(b, *this, {}, types);
  auto elements = cast<DenseElementsAttr>(getValue());
  return {ConstantOp::create(b, getLoc(), elements.resizeSplat(cast<ShapedType>(types[0])))};
}

SmallVector<Tensor> ConstantOp::evaluate(ArrayRef<Tensor>) { return {toTensor(getValue())}; }

// -- sizes ----------------------------------------------------------------------------------------

LogicalResult SizesOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  auto count = static_cast<int64_t>(getValues().size());
  if (!type.hasStaticShape() || type.getNumElements() != count)
    return emitOpError() << "has " << count << " values for a result " << type;
  if (!Polynomial::parse(getDivisor().str()))
    return emitOpError() << "needs a polynomial of symbols, found '" << getDivisor() << "'";
  for (StringRef text : getValues().getAsValueRange<StringAttr>())
    if (!Polynomial::parse(text.str()))
      return emitOpError() << "needs polynomials of symbols, found '" << text << "'";
  return success();
}

// The elements, if no symbols are left.
static std::optional<Tensor> boundValues(SizesOp op) {
  std::optional<int64_t> divisor = Polynomial::parse(op.getDivisor().str())->constant();
  if (!divisor)
    return std::nullopt;
  Tensor result(toElementType(elementTypeOf(op.getResult())), staticShapeOf(op.getType()));
  int64_t i = 0;
  for (StringRef text : op.getValues().getAsValueRange<StringAttr>()) {
    std::optional<int64_t> value = Polynomial::parse(text.str())->constant();
    if (!value)
      return std::nullopt;
    result.set(i++,
               static_cast<double>(*value) / static_cast<double>(std::max<int64_t>(*divisor, 1)));
  }
  return result;
}

OpFoldResult SizesOp::fold(FoldAdaptor) {
  std::optional<Tensor> values = boundValues(*this);
  return values ? OpFoldResult(toAttribute(*values, getContext())) : OpFoldResult();
}

FactorRule SizesOp::getFactorRule() {
  FactorRule rule = pointwiseRule(*this);
  for (Factor &factor : rule.factors)
    factor.kind = FactorKind::Replicated;
  return rule;
}
Polynomial SizesOp::getFlops() { return 0; }

SmallVector<Tensor> SizesOp::evaluate(ArrayRef<Tensor>) {
  std::optional<Tensor> values = boundValues(*this);
  assert(values && "symbols must have been bound");
  return {*values};
}

// -- iota -----------------------------------------------------------------------------------------

LogicalResult IotaOp::verify() {
  if (static_cast<int64_t>(getDim()) < 0 || static_cast<int64_t>(getDim()) >= rankOf(getResult()))
    return emitOpError() << "counts along dim " << getDim() << " of a tensor of rank "
                         << rankOf(getResult());
  return success();
}
FactorRule IotaOp::getFactorRule() { return pointwiseRule(*this); }
Polynomial IotaOp::getFlops() { return 0; }

SmallVector<Value> IotaOp::partition(OpBuilder &b, ValueRange, TypeRange types,
                                     llvm::function_ref<Value(unsigned)> blockOffset) {
  Value local = cloneWith(b, *this, {}, types)[0];
  Value offset = blockOffset(getDim());
  if (!offset)
    return {local};
  Value cast = buildCast(b, offset, elementTypeOf(types[0]));
  return {AddOp::create(b, getLoc(), local, buildBroadcast(b, getLoc(), cast, shapeOf(types[0])))};
}

SmallVector<Tensor> IotaOp::evaluate(ArrayRef<Tensor>) {
  Tensor result(toElementType(elementTypeOf(getResult())), staticShapeOf(getType()));
  int64_t i = 0;
  forEachIndex(result.shape,
               [&](const auto &index) { result.set(i++, static_cast<double>(index[getDim()])); });
  return {result};
}

// -- accumulate -----------------------------------------------------------------------------------

LogicalResult AccumulateOp::verify() {
  auto count = static_cast<int64_t>(getCount());
  if (count < 1)
    return emitOpError() << "counts " << count << " micro-batches, expected at least 1";
  return success();
}

FactorRule AccumulateOp::getFactorRule() {
  FactorRule rule = pointwiseRule(*this);
  rule.linear = true;
  return rule;
}
Polynomial AccumulateOp::getFlops() { return elementCount(getType()); }
SmallVector<Tensor> AccumulateOp::evaluate(ArrayRef<Tensor> operands) { return {operands[0]}; }

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Structure.cpp.inc"

void cleave::graph::GraphDialect::addStructureOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Structure.cpp.inc"
      >();
}
