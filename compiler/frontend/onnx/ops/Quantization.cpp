// Quantized tensors, and products of them.
#include "compiler/frontend/emit/Quantization.h"

#include "compiler/frontend/emit/Contraction.h"
#include "compiler/frontend/emit/Convolution.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "compiler/frontend/onnx/file/TensorReader.h"
#include "compiler/frontend/onnx/ops/Window.h"

namespace cleave::onnx {
namespace {

using namespace emit;

// The type that an attribute names, or `absent`.
mlir::Type typeAttribute(NodeImport &n, const char *name, mlir::Type absent) {
  int64_t number = n.integer(name, 0);
  if (number == 0)
    return absent;
  std::optional<ElementType> type = elementTypeOf(static_cast<int32_t>(number));
  if (!type)
    fail(std::string("attribute '") + name + "' is the type number " + std::to_string(number) +
         ", which Cleave does not compute with");
  return graph::fromElementType(*type, n.b.getContext());
}

// As quantize() does it, in the range of a narrow type.
Bindings quantizeNarrow(NodeImport &n, int32_t to) {
  const NarrowType &type = *narrowType(to);
  Value x = isFloat(n.input(0)) ? n.input(0) : n.cast(n.input(0), n.b.getF32Type());
  int64_t axis = n.integer("axis", 1), block = n.integer("block_size", 0);
  Value scale = perElement(n, n.cast(n.input(1), elementOf(x)), x, axis, block);
  Value quotient = n.div(x, scale);
  if (!type.isFloat()) {
    quotient = n.unary<graph::RoundOp>(quotient);
    if (n.hasInput(2))
      quotient = n.add(quotient, perElement(n, n.cast(n.input(2), elementOf(x)), x, axis, block));
    quotient = clip(n, quotient, type.lowestInteger(), type.highestInteger());
  }
  return {Binding{{toNarrow(n, quotient, type, n.integer("saturate", 1))}, false, to}};
}

Bindings importQuantize(NodeImport &n) {
  n.checkInputs(2, 3);
  n.ignore({"saturate", "precision"}); // about 8-bit floats, and less precision than f32
  int32_t narrow = narrowNumber(static_cast<int32_t>(n.integer("output_dtype", 0)));
  if (narrow || n.binding(2).narrow)
    return quantizeNarrow(n, narrow ? narrow : n.binding(2).narrow);
  Value zero = n.optionalInput(2);
  mlir::Type byte = graph::fromElementType(ElementType::U8, n.b.getContext());
  mlir::Type type = typeAttribute(n, "output_dtype", zero ? elementOf(zero) : byte);
  return {Binding{{quantize(n, n.input(0), n.input(1), zero, type, n.integer("axis", 1),
                            n.integer("block_size", 0))}}};
}

Values importDequantize(NodeImport &n) {
  n.checkInputs(2, 3);
  Value result = dequantize(n, n.input(0), n.input(1), n.optionalInput(2), n.integer("axis", 1),
                            n.integer("block_size", 0));
  return {n.cast(result, typeAttribute(n, "output_dtype", elementOf(result)))};
}

Values importDynamicQuantize(NodeImport &n) {
  n.checkInputs(1, 1);
  DynamicallyQuantized q = quantizeDynamically(n, n.input(0));
  return {q.values, q.scale, q.zero};
}

// x - zero in `type`; zeros are one for all, or one per index of dim `dim` of x.
Value centred(NodeImport &n, Value x, Value zero, int64_t dim, mlir::Type type) {
  Value wide = n.cast(x, type);
  if (!zero)
    return wide;
  return n.sub(wide, perElement(n, n.cast(zero, type), x, dim, 0));
}

int64_t rowDim(Value x) { return std::max<int64_t>(rankOf(x) - 2, 0); }

Values importMatMulInteger(NodeImport &n) {
  n.checkInputs(2, 4);
  mlir::Type type = n.b.getI32Type();
  Value a = n.input(0), b = n.input(1);
  return {matmul(n, centred(n, a, n.optionalInput(2), rowDim(a), type),
                 centred(n, b, n.optionalInput(3), rankOf(b) - 1, type))};
}

Values importQLinearMatMul(NodeImport &n) {
  n.checkInputs(8, 8);
  Value a = n.input(0), b = n.input(3);
  mlir::Type element = n.b.getF32Type();
  // Scales belong to rows of the first and columns of the second operand: sums are of whole numbers, and exact.
  Value product = matmul(n, centred(n, a, n.input(2), rowDim(a), element),
                         centred(n, b, n.input(5), rankOf(b) - 1, element));
  auto scale = [&](size_t i, int64_t dim) {
    return perElement(n, n.cast(n.input(i), element), product, dim, 0);
  };
  product = n.mul(product, n.mul(scale(1, rowDim(product)), scale(4, rankOf(product) - 1)));
  Value zero = n.input(7);
  return {quantize(n, product, n.input(6), zero, elementOf(zero), rankOf(product) - 1)};
}

// A convolution of whole numbers, exact in the type.
Value integerConvolution(NodeImport &n, size_t input, size_t weight, Value inputZero,
                         Value weightZero, Value bias, mlir::Type type) {
  Value x = n.input(input), w = n.input(weight);
  WindowAttributes read = readWindow(n);
  return convolution(n, centred(n, x, inputZero, 1, type), centred(n, w, weightZero, 0, type), bias,
                     read.window, n.integer("group", 1), read.autoPad);
}

// f32 holds sums of products below 2^24 exactly.
mlir::Type exactType(NodeImport &n, Value weight) {
  Ints sizes = n.numbers(shapeOf(weight), "size of a weight");
  double products = 1;
  for (size_t i = 1; i < sizes.size(); ++i)
    products *= static_cast<double>(sizes[i]);
  return products <= 256 ? mlir::Type(n.b.getF32Type()) : mlir::Type(n.b.getF64Type());
}

Values importConvInteger(NodeImport &n) {
  n.checkInputs(2, 4);
  Value sum = integerConvolution(n, 0, 1, n.optionalInput(2), n.optionalInput(3), {},
                                 exactType(n, n.input(1)));
  return {n.cast(sum, n.b.getI32Type())};
}

Values importQLinearConv(NodeImport &n) {
  n.checkInputs(8, 9);
  mlir::Type element = n.b.getF32Type();
  Value bias = n.hasInput(8) ? n.cast(n.input(8), element) : Value();
  Value sum = integerConvolution(n, 0, 3, n.input(2), n.input(5), bias, element), zero = n.input(7);
  Value weightScale = perElement(n, n.cast(n.input(4), element), sum, 1, 0);
  Value inputScale = perElement(n, n.cast(n.input(1), element), sum, 1, 0);
  Value real = n.mul(sum, n.mul(weightScale, inputScale));
  return {quantize(n, real, n.input(6), zero, elementOf(zero), 1)};
}

constexpr OpEntry kOps[] = {
    {"ConvInteger", 10, importConvInteger},
    {"DequantizeLinear", 10, importDequantize},
    {"DynamicQuantizeLinear", 11, importDynamicQuantize},
    {"MatMulInteger", 10, importMatMulInteger},
    {"QLinearConv", 10, importQLinearConv},
    {"QLinearMatMul", 10, importQLinearMatMul},
    {"QuantizeLinear", 10, importQuantize},
};

} // namespace

llvm::ArrayRef<OpEntry> quantizationOps() { return kOps; }

} // namespace cleave::onnx
