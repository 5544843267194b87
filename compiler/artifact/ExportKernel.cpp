// Parameters are derived from the kernel's views; the last one of ops on a rank's position, which
// has no view, holds the coordinates.
#include "compiler/artifact/ExportKernel.h"

#include "compiler/artifact/ExportTensor.h"
#include "dialects/mesh/MeshDialect.h"
#include "runtime/artifact/KernelSignature.h"
#include "runtime/artifact/Mesh.h"

#include <algorithm>

using namespace mlir;

namespace cleave::artifact {
namespace {

// Extends the parameter of a view's buffer to the last element that the view reaches.
void include(plan::Kernel &kernel, program::ViewAttr view, Type type, bool written) {
  auto tensor = cast<RankedTensorType>(type);
  plan::KernelParameter &parameter = *kernel.mutable_parameters(static_cast<int>(view.getBuffer()));
  parameter.set_dtype(dtypeOf(tensor.getElementType()));
  parameter.set_written(parameter.written() || written);
  int64_t last = view.getOffset();
  for (auto [size, stride] : llvm::zip(tensor.getShape(), view.getStrides()))
    last += std::max<int64_t>(0, stride) * (size - 1);
  uint64_t elements = llvm::is_contained(tensor.getShape(), 0) ? 0 : last + 1;
  parameter.set_bytes(std::max(parameter.bytes(), elements * byteSize(parameter.dtype())));
}

void addParameters(program::KernelOp op, const Mesh &mesh, plan::Kernel &kernel) {
  for (int64_t i = 0; i < op.instanceBuffers(); ++i)
    kernel.add_parameters();
  for (auto [i, argument] : llvm::enumerate(op.getBody().getArguments()))
    include(kernel, op.getOperandView(i), argument.getType(), /*written=*/false);
  for (auto [i, type] : llvm::enumerate(op.getComputation().getResultTypes()))
    include(kernel, op.getResultView(i), type, /*written=*/true);
  const google::protobuf::RepeatedPtrField<plan::KernelParameter> first = kernel.parameters();
  for (int64_t instance = 1; instance < op.instanceCount(); ++instance)
    kernel.mutable_parameters()->MergeFrom(first);
  if (!isa<mesh::SliceOp, mesh::BlockOffsetOp>(op.getComputation()))
    return;
  plan::KernelParameter &coordinates = *kernel.mutable_parameters(kernel.parameters_size() - 1);
  coordinates.set_dtype(plan::I64);
  coordinates.set_bytes(sizeof(int64_t) * mesh.axes.size());
  coordinates.set_coordinates(true);
}

} // namespace

plan::Kernel exportKernel(program::KernelOp op) {
  Mesh mesh;
  if (mesh::MeshAttr attr = mesh::meshOf(op))
    mesh = mesh::toMesh(attr);
  plan::Kernel kernel;
  kernel.set_extent(op.getExtent().value_or(0));
  if (std::optional<ArrayRef<int64_t>> grid = op.getGrid()) {
    kernel.mutable_grid()->set_blocks(static_cast<uint32_t>((*grid)[0]));
    kernel.mutable_grid()->set_threads(static_cast<uint32_t>((*grid)[1]));
    kernel.mutable_grid()->set_shared_bytes(static_cast<uint32_t>((*grid)[2]));
  }
  if (op.getFlops())
    kernel.set_flops(op.getFlops()->convertToDouble());
  if (op.getBytes())
    kernel.set_bytes(op.getBytes()->convertToDouble());
  addParameters(op, mesh, kernel);
  if (op.getInstances())
    kernel.set_instances(static_cast<uint32_t>(op.instanceCount()));
  MeshAxes axes;
  for (const MeshAxis &axis : mesh.axes)
    axes.Add()->set_size(static_cast<uint32_t>(axis.size));
  kernel.set_symbol(symbolOf(op.getSymName().str(), kernel, axes));
  return kernel;
}

} // namespace cleave::artifact
