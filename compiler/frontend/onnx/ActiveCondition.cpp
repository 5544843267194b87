// See ActiveCondition.h.
#include "compiler/frontend/onnx/ActiveCondition.h"

#include "dialects/graph/StopGradient.h"

namespace cleave::onnx {

Value ActiveCondition::conjunction(Value outer, Value inner) {
  return graph::AndOp::create(b_, inner.getLoc(), outer, inner);
}

Value ActiveCondition::guarded(Value value) {
  if (!condition_ || !emit::isFloat(value) || evaluator_.sizes(value))
    return value;
  mlir::Location location = value.getLoc();
  Value stopped = graph::StopGradientOp::create(b_, location, value.getType(), value);
  Value condition = graph::buildBroadcast(b_, location, condition_, graph::shapeOf(value));
  return graph::SelectOp::create(b_, location, value.getType(), condition, value, stopped);
}

void ActiveCondition::guard(Binding &binding) {
  for (Value &value : binding.values)
    value = guarded(value);
}

} // namespace cleave::onnx
