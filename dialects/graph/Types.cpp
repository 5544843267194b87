// Conversion of shapes, element types and constants between MLIR and plain data.
#include "dialects/graph/Types.h"

#include "dialects/graph/Graph.h"
#include "dialects/graph/Pointwise.h"
#include "runtime/base/ProductType.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace cleave::graph {

LogicalResult DimsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayAttr dims) {
  for (Attribute dim : dims) {
    auto text = dyn_cast<StringAttr>(dim);
    if (!text || (!text.empty() && !Polynomial::parse(text.getValue().str())))
      return emitError() << "needs a polynomial of symbols for every symbolic dim, found " << dim;
  }
  return success();
}

LogicalResult DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                       llvm::function_ref<InFlightDiagnostic()> emitError) const {
  ArrayAttr dims = getDims();
  if (dims.size() != shape.size())
    return emitError() << "has " << dims.size() << " entries in " << *this
                       << " for a tensor of rank " << shape.size() << ", expected one per dim";
  for (auto [i, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size) && cast<StringAttr>(dims[i]).empty())
      return emitError() << "has an empty entry in " << *this << " for dim " << i
                         << ", expected a polynomial of symbols";
  return success();
}

Shape shapeOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto dims = dyn_cast_if_present<DimsAttr>(tensor.getEncoding());
  Shape shape;
  for (auto [i, size] : llvm::enumerate(tensor.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      shape.push_back(Polynomial(size));
      continue;
    }
    assert(dims && "a symbolic dim needs a #graph.dims encoding");
    auto text = cast<StringAttr>(dims.getDims()[i]).getValue();
    shape.push_back(*Polynomial::parse(text.str()));
  }
  return shape;
}

RankedTensorType tensorOf(const Shape &shape, Type element) {
  SmallVector<int64_t> sizes;
  SmallVector<Attribute> texts;
  bool symbolic = false;
  for (const Polynomial &dim : shape) {
    std::optional<int64_t> constant = dim.constant();
    symbolic |= !constant;
    sizes.push_back(constant.value_or(ShapedType::kDynamic));
    texts.push_back(StringAttr::get(element.getContext(), constant ? "" : dim.str()));
  }
  Attribute encoding;
  if (symbolic)
    encoding = DimsAttr::get(element.getContext(), ArrayAttr::get(element.getContext(), texts));
  return RankedTensorType::get(sizes, element, encoding);
}

bool hasStaticShape(Type type) { return cast<RankedTensorType>(type).hasStaticShape(); }

bool hasKnownDims(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && (tensor.hasStaticShape() || isa_and_present<DimsAttr>(tensor.getEncoding()));
}

LogicalResult verifyParsed(std::optional<Location> location, Value operand) {
  if (hasKnownDims(operand.getType()))
    return success();
  return emitOptionalError(location, "found an operand of type ", operand.getType(),
                           ", expected a ranked tensor with static or symbolic dims");
}

LogicalResult verifySameDims(Operation *op) {
  Type expected = op->getResult(0).getType();
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (shapeOf(type) != shapeOf(expected))
      return op->emitOpError() << "needs operands and results with the same dims, found " << type
                               << " and " << expected;
  return success();
}

std::vector<int64_t> staticShapeOf(Type type) {
  assert(hasStaticShape(type) && "symbols must have been bound");
  return cast<RankedTensorType>(type).getShape().vec();
}

Type elementTypeOf(Type type) { return cast<RankedTensorType>(type).getElementType(); }
int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

bool isProductType(Type product, Type factor) {
  return cleave::isProductType(toElementType(product), toElementType(factor));
}

bool isProductTensor(Type product, Type factor) {
  auto tensor = dyn_cast<RankedTensorType>(product), other = dyn_cast<RankedTensorType>(factor);
  return tensor && other && tensor.clone(other.getElementType()) == other &&
         isProductType(tensor.getElementType(), other.getElementType());
}

Polynomial elementCount(Type type) {
  Polynomial count(1);
  for (const Polynomial &dim : shapeOf(type))
    count *= dim;
  return count;
}

Polynomial byteCount(Type type) {
  return elementCount(type) * Polynomial(byteSize(toElementType(elementTypeOf(type))));
}

ElementType toElementType(Type type) {
  if (type.isF64())
    return ElementType::F64;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isUnsignedInteger(8))
    return ElementType::U8;
  if (type.isUnsignedInteger(16))
    return ElementType::U16;
  if (type.isUnsignedInteger(32))
    return ElementType::U32;
  if (type.isUnsignedInteger(64))
    return ElementType::U64;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return ElementType::Bool;
  case 8:
    return ElementType::I8;
  case 16:
    return ElementType::I16;
  case 32:
    return ElementType::I32;
  default:
    return ElementType::I64;
  }
}

Type fromElementType(ElementType type, MLIRContext *context) {
  switch (type) {
  case ElementType::F64:
    return Float64Type::get(context);
  case ElementType::F32:
    return Float32Type::get(context);
  case ElementType::F16:
    return Float16Type::get(context);
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::U8:
  case ElementType::U16:
  case ElementType::U32:
  case ElementType::U64:
    return IntegerType::get(context, 8 * byteSize(type), IntegerType::Unsigned);
  case ElementType::Bool:
    return IntegerType::get(context, 1);
  default:
    return IntegerType::get(context, 8 * byteSize(type));
  }
}

static double toDouble(const APFloat &value) {
  APFloat wide = value;
  bool lossy;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  return wide.convertToDouble();
}

static double toDouble(const APInt &value, Type type) {
  const bool isSigned = !type.isInteger(1) && !type.isUnsignedInteger();
  return isSigned ? static_cast<double>(value.getSExtValue())
                  : static_cast<double>(value.getZExtValue());
}

Tensor toTensor(ElementsAttr attr) {
  auto type = cast<RankedTensorType>(attr.getShapedType());
  Tensor tensor(toElementType(type.getElementType()), type.getShape().vec());
  int64_t i = 0;
  if (isa<FloatType>(type.getElementType())) {
    for (const APFloat &value : attr.getValues<APFloat>())
      tensor.values[i++] = toDouble(value);
    return tensor;
  }
  for (const APInt &value : attr.getValues<APInt>())
    tensor.values[i++] = toDouble(value, type.getElementType());
  return tensor;
}

DenseElementsAttr toAttribute(const Tensor &tensor, MLIRContext *context) {
  Type element = fromElementType(tensor.type, context);
  auto type = RankedTensorType::get(tensor.shape, element);
  if (tensor.type == ElementType::Bool) { // MLIR packs truth values
    SmallVector<bool> values;
    for (double value : tensor.values)
      values.push_back(toBits(value) & 1);
    return DenseElementsAttr::get(type, ArrayRef<bool>(values));
  }
  auto floatType = dyn_cast<FloatType>(element);
  auto bitsOf = [&](double value) {
    if (floatType) {
      APFloat narrow(value);
      bool lossy;
      narrow.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lossy);
      return narrow.bitcastToAPInt().getZExtValue();
    }
    return integerBits(element, value);
  };
  size_t bytes = byteSize(tensor.type);
  std::vector<char> raw;
  raw.reserve(tensor.values.size() * bytes);
  for (double value : tensor.values) {
    uint64_t bits = bitsOf(value);
    auto *begin = reinterpret_cast<const char *>(&bits); // little-endian, as in MLIR
    raw.insert(raw.end(), begin, begin + bytes);
  }
  return DenseElementsAttr::getFromRawBuffer(type, raw);
}

// Whether the integer of 64 bits is that of its double.
static bool isExact(const APInt &value, Type element) {
  const double number = value.roundToDouble(/*isSigned=*/!element.isUnsignedInteger());
  return integerBits(element, number) == value.getZExtValue();
}

bool isExact(ElementsAttr attr) {
  const Type element = attr.getElementType();
  return !element.isInteger(64) || llvm::all_of(attr.getValues<APInt>(), [&](const APInt &value) {
    return isExact(value, element);
  });
}

std::optional<double> splatValue(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getOperand();
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat())
    return std::nullopt;
  const Type element = elements.getElementType();
  if (isa<FloatType>(element))
    return toDouble(elements.getSplatValue<APFloat>());
  const APInt number = elements.getSplatValue<APInt>();
  return element.isInteger(64) && !isExact(number, element)
             ? std::nullopt
             : std::optional(toDouble(number, element));
}

} // namespace cleave::graph
