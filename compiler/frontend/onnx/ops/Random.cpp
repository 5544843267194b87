// Random operators. Draws differ from step to step: keys come from a counter that is a state of the
// step. A `seed` selects another series, which differs from other implementations' series.
#include "compiler/frontend/emit/Random.h"

#include "compiler/frontend/onnx/ops/OpTable.h"

#include <bit>

namespace cleave::onnx {
namespace {

using namespace emit;

// The key of one draw of this node.
Value keyOf(NodeImport &n) {
  auto seed = static_cast<float>(n.decimal("seed", 0));
  Value key = n.services.randomKey();
  return seed == 0
             ? key
             : n.add(key, n.splat(key, static_cast<double>(std::bit_cast<uint32_t>(seed)) * 65536));
}

mlir::Type typeAttribute(NodeImport &n, mlir::Type absent) {
  auto number = static_cast<int32_t>(n.integer("dtype", 0));
  if (number == 0)
    return absent;
  std::optional<ElementType> type = elementTypeOf(number);
  if (!type)
    fail("gives ", dataTypeName(number), ", which Cleave does not compute with");
  return graph::fromElementType(*type, n.b.getContext());
}

Sizes shapeAttribute(NodeImport &n) {
  std::optional<Ints> dims = n.integers("shape");
  if (!dims)
    fail("attribute 'shape' is missing");
  return toShape(*dims);
}

// The operand's type if that is a float, else float32.
mlir::Type typeLike(NodeImport &n) {
  return typeAttribute(n, isFloat(n.input(0)) ? elementOf(n.input(0)) : n.b.getF32Type());
}

Value drawUniform(NodeImport &n, const Sizes &dims, mlir::Type type) {
  double low = n.decimal("low", 0), high = n.decimal("high", 1);
  return n.cast(uniform(n, dims, keyOf(n), low, high), type);
}

Value drawNormal(NodeImport &n, const Sizes &dims, mlir::Type type) {
  double mean = n.decimal("mean", 0), deviation = n.decimal("scale", 1);
  return n.cast(normal(n, dims, keyOf(n), mean, deviation), type);
}

template <Value (*draw)(NodeImport &, const Sizes &, mlir::Type)> Values drawn(NodeImport &n) {
  n.checkInputs(0, 0);
  return {draw(n, shapeAttribute(n), typeAttribute(n, n.b.getF32Type()))};
}

template <Value (*draw)(NodeImport &, const Sizes &, mlir::Type)> Values like(NodeImport &n) {
  n.checkInputs(1, 1);
  return {draw(n, shapeOf(n.input(0)), typeLike(n))};
}

Values importBernoulli(NodeImport &n) {
  n.checkInputs(1, 1);
  return {n.cast(bernoulli(n, n.input(0), keyOf(n)), typeAttribute(n, elementOf(n.input(0))))};
}

Values importMultinomial(NodeImport &n) {
  n.checkInputs(1, 1);
  Value drawn = multinomial(n, n.input(0), n.integer("sample_size", 1), keyOf(n));
  return {n.cast(drawn, typeAttribute(n, n.b.getI32Type()))};
}

constexpr OpEntry kRandomOps[] = {
    {"Bernoulli", 15, importBernoulli},       {"Multinomial", 7, importMultinomial},
    {"RandomNormal", 1, drawn<drawNormal>},   {"RandomNormalLike", 1, like<drawNormal>},
    {"RandomUniform", 1, drawn<drawUniform>}, {"RandomUniformLike", 1, like<drawUniform>},
};

} // namespace

llvm::ArrayRef<OpEntry> randomOps() { return kRandomOps; }

} // namespace cleave::onnx
