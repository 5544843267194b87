// Quantization, and products of quantized tensors.
#include "compiler/frontend/emit/Quantization.h"

#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/emit/Contraction.h"
#include "compiler/frontend/emit/Convolution.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "compiler/frontend/onnx/file/TensorReader.h"
#include "compiler/frontend/onnx/ops/Window.h"

namespace cleave::onnx {
namespace {

using namespace emit;

// The type that the attribute names, or `absent`.
mlir::Type typeAttribute(NodeImport &n, const char *name, mlir::Type absent) {
  int64_t number = n.integer(name, 0);
  if (number == 0)
    return absent;
  std::optional<ElementType> type = elementTypeOf(static_cast<int32_t>(number));
  if (!type)
    fail("attribute '", name, "' is the type number ", number,
         ", which Cleave does not compute with");
  return graph::fromElementType(*type, n.b.getContext());
}

// Quantizes as emit::quantize does, to the range of a narrow type.
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
    quotient = emit::clamped(n, quotient, type.lowestInteger(), type.highestInteger());
  }
  Value narrow = toNarrow(n, quotient, type, n.integer("saturate", 1));
  return {Binding{.values = {narrow}, .narrow = to}};
}

Bindings importQuantize(NodeImport &n) {
  n.checkInputs(2, 3);
  n.ignore({"saturate", "precision"}); // of 8-bit floats; less precision than float32
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

// x minus its zero point in `type`. There is one zero point, or one per index of dim `dim` of x.
Value centred(NodeImport &n, Value x, Value zero, int64_t dim, mlir::Type type) {
  Value wide = n.cast(x, type);
  if (!zero)
    return wide;
  return n.sub(wide, perElement(n, n.cast(zero, type), x, dim, 0));
}

int64_t rowDim(Value x) { return std::max<int64_t>(rankOf(x) - 2, 0); }

// Inputs of MatMulInteger and ConvInteger: two operands of integers and their zero points.
namespace integer_inputs {
enum Input : size_t { kA, kB, kZeroA, kZeroB };
}

// Inputs of QLinearMatMul and QLinearConv: two operands of integers and the result, each with scale
// and zero point, and the bias of a convolution.
namespace qlinear_inputs {
enum Input : size_t { kA, kScaleA, kZeroA, kB, kScaleB, kZeroB, kScaleOut, kZeroOut, kBias };
}

Values importMatMulInteger(NodeImport &n) {
  using namespace integer_inputs;
  n.checkInputs(2, 4);
  mlir::Type type = n.b.getI32Type();
  Value a = n.input(kA), b = n.input(kB);
  return {matmul(n, centred(n, a, n.optionalInput(kZeroA), rowDim(a), type),
                 centred(n, b, n.optionalInput(kZeroB), rankOf(b) - 1, type))};
}

Values importQLinearMatMul(NodeImport &n) {
  using namespace qlinear_inputs;
  n.checkInputs(8, 8);
  Value a = n.input(kA), b = n.input(kB);
  mlir::Type element = n.b.getF32Type();
  // Scales belong to rows of the first and columns of the second operand, so the products are sums
  // of integers, which are exact.
  Value product = matmul(n, centred(n, a, n.input(kZeroA), rowDim(a), element),
                         centred(n, b, n.input(kZeroB), rankOf(b) - 1, element));
  auto scale = [&](size_t i, int64_t dim) {
    return perElement(n, n.cast(n.input(i), element), product, dim, 0);
  };
  product =
      n.mul(product, n.mul(scale(kScaleA, rowDim(product)), scale(kScaleB, rankOf(product) - 1)));
  Value zero = n.input(kZeroOut);
  return {quantize(n, product, n.input(kScaleOut), zero, elementOf(zero), rankOf(product) - 1)};
}

// A convolution of integers, which is exact in the type.
Value integerConvolution(NodeImport &n, Value x, Value w, Value inputZero, Value weightZero,
                         Value bias, mlir::Type type) {
  WindowAttributes read = readWindow(n);
  return convolution(n, centred(n, x, inputZero, 1, type), centred(n, w, weightZero, 0, type), bias,
                     read.window, n.integer("group", 1), read.autoPad);
}

// float32 holds sums of products below 2^24 exactly.
mlir::Type exactType(NodeImport &n, Value weight) {
  Ints sizes = n.numbers(shapeOf(weight), "size of a weight");
  double products = 1;
  for (size_t i = 1; i < sizes.size(); ++i)
    products *= static_cast<double>(sizes[i]);
  return products <= 256 ? mlir::Type(n.b.getF32Type()) : mlir::Type(n.b.getF64Type());
}

Values importConvInteger(NodeImport &n) {
  using namespace integer_inputs;
  n.checkInputs(2, 4);
  Value sum = integerConvolution(n, n.input(kA), n.input(kB), n.optionalInput(kZeroA),
                                 n.optionalInput(kZeroB), {}, exactType(n, n.input(kB)));
  return {n.cast(sum, n.b.getI32Type())};
}

Values importQLinearConv(NodeImport &n) {
  using namespace qlinear_inputs;
  n.checkInputs(8, 9);
  mlir::Type element = n.b.getF32Type();
  Value bias = n.hasInput(kBias) ? n.cast(n.input(kBias), element) : Value();
  Value sum = integerConvolution(n, n.input(kA), n.input(kB), n.input(kZeroA), n.input(kZeroB),
                                 bias, element);
  Value zero = n.input(kZeroOut);
  Value weightScale = perElement(n, n.cast(n.input(kScaleB), element), sum, 1, 0);
  Value inputScale = perElement(n, n.cast(n.input(kScaleA), element), sum, 1, 0);
  Value real = n.mul(sum, n.mul(weightScale, inputScale));
  return {quantize(n, real, n.input(kScaleOut), zero, elementOf(zero), 1)};
}

constexpr OpEntry kQuantizationOps[] = {
    {"ConvInteger", 10, importConvInteger},
    {"DequantizeLinear", 10, importDequantize},
    {"DynamicQuantizeLinear", 11, importDynamicQuantize},
    {"MatMulInteger", 10, importMatMulInteger},
    {"QLinearConv", 10, importQLinearConv},
    {"QLinearMatMul", 10, importQLinearMatMul},
    {"QuantizeLinear", 10, importQuantize},
};

} // namespace

llvm::ArrayRef<OpEntry> quantizationOps() { return kQuantizationOps; }

} // namespace cleave::onnx
