// See StepTensors.h.
#include "compiler/frontend/onnx/StepTensors.h"

#include "dialects/graph/Graph.h"
#include "dialects/graph/RandomOrigin.h"

namespace cleave::onnx {

mlir::BlockArgument StepTensors::addArgument(Role role, const StoredTensor &tensor,
                                             const std::string &name, bool transposed) {
  std::vector<int64_t> dims = tensor.dims;
  if (transposed)
    std::swap(dims[0], dims[1]);
  mlir::MLIRContext *context = step_.builder().getContext();
  auto type = mlir::RankedTensorType::get(dims, graph::fromElementType(tensor.element(), context));
  return step_.addArgument(role, type, name, sourceOf(tensor, transposed));
}

mlir::Attribute StepTensors::sourceOf(const StoredTensor &tensor, bool transposed) {
  if (std::optional<Initialisation> first = initialisationOf(tensor))
    return sourceOf(*first);
  graph::TensorOrigin origin = files_.originOf(tensor, transposed);
  return graph::toAttribute(origin, step_.builder().getContext());
}

mlir::Attribute StepTensors::sourceOf(const Initialisation &first) {
  mlir::MLIRContext *context = step_.builder().getContext();
  if (first.kind != Initialisation::Kind::Fill) {
    graph::RandomOrigin random{first.kind == Initialisation::Kind::Normal, first.value};
    return graph::toAttribute(random, context);
  }
  graph::TensorOrigin equal;
  equal.fill = first.value;
  return graph::toAttribute(equal, context);
}

mlir::Value StepTensors::subgraphParameter(const StoredTensor &tensor) {
  mlir::Value &argument = arguments_[&tensor];
  if (!argument)
    argument = addArgument(Role::Parameter, tensor, tensor.name);
  return argument;
}

mlir::Value StepTensors::constant(const StoredTensor &tensor, const std::string &name) {
  if (tensor.dataType == kStringType)
    return stringNumbers(tensor);
  if (tensor.byteCount() > frontend::kMaxConstantBytes || initialisationOf(tensor)) {
    mlir::Value &argument = arguments_[&tensor];
    if (!argument)
      argument = addArgument(Role::Constant, tensor, name);
    return argument;
  }
  std::string location = name.empty() ? "constant" : name;
  if (tensor.element() != ElementType::I64)
    return step_.addConstant(location, files_.read(tensor));
  std::string_view bytes = files_.bytesOf(tensor);
  std::vector<int64_t> exact(bytes.size() / sizeof(int64_t));
  bytes.copy(reinterpret_cast<char *>(exact.data()), bytes.size());
  auto type = mlir::RankedTensorType::get(tensor.dims, step_.builder().getI64Type());
  return step_.addConstant(location, mlir::DenseElementsAttr::get(type, llvm::ArrayRef(exact)));
}

mlir::Value StepTensors::stringNumbers(const StoredTensor &tensor) {
  Tensor numbers(ElementType::I64, tensor.dims);
  for (size_t i = 0; i < tensor.strings.size(); ++i)
    numbers.values[i] = static_cast<double>(strings_.numberOf(tensor.strings[i]));
  return step_.addConstant("strings", numbers);
}

} // namespace cleave::onnx
