// Computes the rank's position in its group from its coordinates.
#include "passes/codegen/nest/LocalEmitter.h"

#include "dialects/mesh/MeshDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cleave::codegen {

// The position among the ranks that differ only on `axes`, the first axis major.
static Value positionInGroup(KernelBuilder &k, program::KernelOp kernel, ArrayAttr axes) {
  Mesh mesh = mesh::toMesh(mesh::meshOf(kernel));
  int64_t coordinates = kernel.getBuffers() - 1;
  k.describe(coordinates, static_cast<int64_t>(mesh.axes.size()));
  std::vector<int> numbers = mesh::toAxes(axes, mesh).value_or(std::vector<int>());
  Value position = k.constant(0);
  for (int axis : numbers) {
    Value coordinate = k.load(coordinates, k.constant(axis), k.builder().getI64Type());
    position = k.add(k.mul(position, mesh.axes[axis].size), coordinate);
  }
  return position;
}

// result[outer, i, inner] = operand[outer, position * block + i, inner], if that element exists.
static void emitSlice(KernelBuilder &k, program::KernelOp kernel, mesh::SliceOp slice) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(slice.getOperand().getType()).getShape();
  int64_t block = cast<RankedTensorType>(slice.getType()).getDimSize(slice.getDim());
  int64_t outer = 1, inner = 1, size = shape[slice.getDim()];
  for (auto [dim, n] : llvm::enumerate(shape))
    if (static_cast<int64_t>(dim) != static_cast<int64_t>(slice.getDim()))
      (dim < slice.getDim() ? outer : inner) *= n;
  Type element = graph::elementTypeOf(slice.getOperand());
  int64_t from = kernel.getOperandView(0).getBuffer(), to = kernel.getResultView(0).getBuffer();
  Value start = k.mul(positionInGroup(k, kernel, slice.getAxes()), block);
  forEachRow(k, outer * block, inner, [&](Value row, const ForEach &elements) {
    SmallVector<Value> at = k.delinearize(row, {outer, block});
    // Beyond the end is padding: any element will do.
    Value source = k.smaller(k.add(start, at[1]), size - 1);
    Value first = k.mul(k.add(k.mul(at[0], size), source), inner), target = k.mul(row, inner);
    elements(
        [&](Value i) { k.store(k.load(from, k.add(first, i), element), to, k.add(target, i)); });
  });
}

void emitLocal(KernelBuilder &k, program::KernelOp kernel) {
  if (auto slice = dyn_cast<mesh::SliceOp>(kernel.getComputation()))
    return emitSlice(k, kernel, slice);
  auto offset = cast<mesh::BlockOffsetOp>(kernel.getComputation());
  k.points(1, [&](Value) {
    Value value = k.mul(positionInGroup(k, kernel, offset.getAxes()), offset.getBlock());
    k.store(value, kernel.getResultView(0).getBuffer(), k.constant(0));
  });
}

} // namespace cleave::codegen
