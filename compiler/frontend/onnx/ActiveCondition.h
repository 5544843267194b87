// ActiveCondition: whether the subgraph that is being imported is active, where that depends on
// data. Such a subgraph is computed in any case and its outputs are used only where it is active.
#pragma once

#include "compiler/frontend/emit/Evaluate.h"
#include "compiler/frontend/onnx/node/Binding.h"

#include "llvm/ADT/ScopeExit.h"

namespace cleave::onnx {

class ActiveCondition {
public:
  // The operands outlive this object.
  ActiveCondition(mlir::OpBuilder &b, emit::Evaluator &evaluator) : b_(b), evaluator_(evaluator) {}

  // Whether a subgraph is being imported that may be inactive.
  bool dependsOnData() const { return static_cast<bool>(condition_); }

  // Enters a subgraph that is active where `condition` (a bool scalar) and those of the subgraphs
  // around it hold, until the returned object is destroyed.
  [[nodiscard]] auto enter(Value condition) {
    Value outer = condition_;
    condition_ = outer ? conjunction(outer, condition) : condition;
    return llvm::scope_exit([this, outer] { condition_ = outer; });
  }

  // A value from outside the subgraph, as the subgraph reads it: it receives a gradient only where
  // the subgraph is active. Elsewhere the gradient may be infinite or NaN, and zero times that is
  // not zero.
  Value guarded(Value value);
  // Guards all tensors of a binding.
  void guard(Binding &binding);

private:
  Value conjunction(Value outer, Value inner);

  mlir::OpBuilder &b_;
  emit::Evaluator &evaluator_;
  Value condition_; // null: active
};

} // namespace cleave::onnx
