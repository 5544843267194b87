// See DeclaredOutputs.h.
#include "compiler/frontend/onnx/DeclaredOutputs.h"

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::onnx {
namespace {

using emit::Shape;

bool fits(const Dim &declared, const Polynomial &computed) {
  std::optional<int64_t> size = computed.constant();
  return !declared.size || !size || *size == *declared.size;
}

std::string show(const ValueInfo &declared) {
  std::string text = dataTypeName(declared.dataType);
  if (!declared.hasShape)
    return text;
  text += "[";
  for (size_t i = 0; i < declared.dims.size(); ++i) {
    const Dim &dim = declared.dims[i];
    std::string size = dim.size ? std::to_string(*dim.size) : dim.symbol.empty() ? "?" : dim.symbol;
    text += (i ? ", " : "") + size;
  }
  return text + "]";
}

} // namespace

std::optional<frontend::Remark> contradiction(const ValueInfo &declared, mlir::Value computed) {
  std::optional<ElementType> type = elementTypeOf(declared.dataType);
  if (!type || declared.isSequence || declared.isOptional)
    return std::nullopt;
  Shape dims = emit::shapeOf(computed);
  bool same = *type == graph::toElementType(emit::elementOf(computed));
  if (declared.hasShape) {
    same &= declared.dims.size() == dims.size();
    for (size_t i = 0; same && i < dims.size(); ++i)
      same = fits(declared.dims[i], dims[i]);
  }
  if (same)
    return std::nullopt;
  return frontend::Remark{frontend::Remark::Kind::Warning, declared.name,
                          "the file says that this output is " + show(declared) +
                              ", but it comes to " + emit::typeNameOf(computed) +
                              emit::showShape(dims)};
}

} // namespace cleave::onnx
