// See ModelOutputs.h.
#include "compiler/frontend/onnx/ModelOutputs.h"

#include "compiler/frontend/onnx/node/NodeImport.h"
#include "dialects/graph/KnownStrings.h"

namespace cleave::onnx {

// -- results --------------------------------------------------------------------------------------
static void addStrings(const std::string &name, Value numbers, frontend::StepBuilder &step,
                       const StringPool &pool) {
  try {
    StringTensor known = knownStrings(step.evaluator(), pool, numbers);
    graph::addKnownStrings(step.module(), {name, known.shape, known.elements});
  } catch (const Failure &failure) {
    throw Failure{failure.status.withContext("output '" + name + "'")};
  }
}

void addOutput(const std::string &name, const Binding &computed, frontend::StepBuilder &step,
               const StringPool &strings) {
  if (computed.failed)
    return;
  for (auto [i, value] : llvm::enumerate(computed.values)) {
    std::string element = computed.isSequence ? concat(name, ".", i) : name;
    if (computed.isString)
      addStrings(element, value, step, strings);
    else
      step.addOutput(value, element);
  }
}

// -- declarations ---------------------------------------------------------------------------------
static bool fits(const Dim &declared, const Polynomial &computed) {
  std::optional<int64_t> size = computed.constant();
  return !declared.size || !size || *size == *declared.size;
}

static std::string show(const ValueInfo &declared) {
  std::string text = dataTypeName(declared.dataType);
  if (!declared.hasShape)
    return text;
  text += "[";
  for (size_t i = 0; i < declared.dims.size(); ++i) {
    const Dim &dim = declared.dims[i];
    std::string size = dim.size ? concat(*dim.size) : dim.symbol.empty() ? "?" : dim.symbol;
    text += (i ? ", " : "") + size;
  }
  return text + "]";
}

std::optional<frontend::Remark> contradiction(const ValueInfo &declared, mlir::Value computed) {
  std::optional<ElementType> type = elementTypeOf(declared.dataType);
  if (!type || declared.isSequence || declared.isOptional)
    return std::nullopt;
  Sizes dims = emit::shapeOf(computed);
  bool same = *type == graph::toElementType(emit::elementOf(computed));
  if (declared.hasShape) {
    same &= declared.dims.size() == dims.size();
    for (size_t i = 0; same && i < dims.size(); ++i)
      same = fits(declared.dims[i], dims[i]);
  }
  if (same)
    return std::nullopt;
  return frontend::Remark{frontend::Remark::Kind::Warning, declared.name,
                          concat("the file declares this output as ", show(declared),
                                 ", but Cleave computes ", emit::typeNameOf(computed),
                                 emit::showShape(dims))};
}

} // namespace cleave::onnx
