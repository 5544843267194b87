// Structure: constants, iota and accumulate. The kernel group is in Fusion.cpp.
#include "dialects/graph/Build.h"
#include "dialects/graph/Pointwise.h"

using namespace mlir;

namespace cleave::graph {

// -- constant ---------------------------------------------------------------------------------------------

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getValue().getShapedType());
  return success();
}
LogicalResult ConstantOp::verify() {
  if (getValue().getShapedType() != getType())
    return emitOpError() << "has elements of type " << getValue().getShapedType() << ", but the result type "
                         << getType();
  return success();
}
OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

// Other ranks hold the same elements: no dim of a constant is cut, unless all elements are equal.
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

// -- iota -------------------------------------------------------------------------------------------------

LogicalResult IotaOp::verify() {
  if (static_cast<int64_t>(getDim()) < 0 || static_cast<int64_t>(getDim()) >= rankOf(getResult()))
    return emitOpError() << "counts along dim " << getDim() << " of a tensor of rank " << rankOf(getResult());
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
  forEachIndex(result.shape, [&](const auto &index) { result.set(i++, static_cast<double>(index[getDim()])); });
  return {result};
}

// -- accumulate -------------------------------------------------------------------------------------------

FactorRule AccumulateOp::getFactorRule() {
  FactorRule rule = pointwiseRule(*this);
  rule.linear = true;
  return rule;
}
Polynomial AccumulateOp::getFlops() { return elementCount(getType()); }
SmallVector<Tensor> AccumulateOp::evaluate(ArrayRef<Tensor> operands) { return {operands[0]}; }

} // namespace cleave::graph
