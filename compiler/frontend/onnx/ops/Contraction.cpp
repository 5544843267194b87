// Contractions: MatMul, Gemm, Einsum, Conv and ConvTranspose; and determinants.
#include "compiler/frontend/emit/Contraction.h"

#include "compiler/frontend/emit/Determinant.h"
#include "compiler/frontend/emit/Einsum.h"
#include "compiler/frontend/onnx/ops/Window.h"

namespace cleave::onnx {
namespace {

Values importMatMul(NodeImport &n) {
  n.checkInputs(2, 2);
  return {emit::matmul(n, n.input(0), n.input(1))};
}

Values importGemm(NodeImport &n) {
  n.checkInputs(2, 3);
  emit::GemmOptions options;
  options.transposeLhs = n.integer("transA", 0);
  options.transposeRhs = n.integer("transB", 0);
  options.alpha = n.decimal("alpha", 1);
  options.beta = n.decimal("beta", 1);
  return {emit::gemm(n, n.input(0), n.input(1), n.optionalInput(2), options)};
}

Values importEinsum(NodeImport &n) {
  Values inputs = n.allInputs();
  if (!n.hasAttribute("equation"))
    fail("attribute 'equation' is missing");
  return {emit::einsum(n, n.string("equation", ""), inputs)};
}

Values importConv(NodeImport &n) {
  n.checkInputs(2, 3);
  WindowAttributes read = readWindow(n);
  return {emit::convolution(n, n.input(0), n.input(1), n.optionalInput(2), read.window,
                            n.integer("group", 1), read.autoPad)};
}

Values importConvTranspose(NodeImport &n) {
  n.checkInputs(2, 3);
  WindowAttributes read = readWindow(n);
  Ints outputPadding = n.integers("output_padding").value_or(Ints());
  // The attribute 'output_shape' takes the place of the padding.
  if (std::optional<Ints> sizes = n.integers("output_shape"))
    padToSizes(n, *sizes, outputPadding, read);
  return {emit::transposedConvolution(n, n.input(0), n.input(1), n.optionalInput(2), read.window,
                                      outputPadding, n.integer("group", 1), read.autoPad)};
}

Values importDet(NodeImport &n) {
  n.checkInputs(1, 1);
  return {emit::determinant(n, n.input(0))};
}

constexpr OpEntry kContractionOps[] = {
    {"Conv", 1, importConv}, {"ConvTranspose", 1, importConvTranspose},
    {"Det", 11, importDet},  {"Einsum", 12, importEinsum},
    {"Gemm", 7, importGemm}, {"MatMul", 1, importMatMul},
};

} // namespace

llvm::ArrayRef<OpEntry> contractionOps() { return kContractionOps; }

} // namespace cleave::onnx
