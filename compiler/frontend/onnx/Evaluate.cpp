// See Evaluate.h.
#include "compiler/frontend/onnx/Evaluate.h"

#include <algorithm>

namespace cleave::onnx {
namespace {

// Larger tensors are data, not shapes.
constexpr int64_t kMaxElements = 1 << 16;

bool isSmall(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() <= kMaxElements;
}

Tensor constantOf(graph::ConstantOp op) {
  Tensor out = graph::toTensor(op.getValue());
  constexpr double limit = 9007199254740992.0; // 2^53
  if (out.type == ElementType::I64)
    for (double &value : out.values)
      value = std::clamp(value, -limit, limit);
  return out;
}

} // namespace

bool Evaluator::compute(mlir::Operation *op) {
  if (auto constant = mlir::dyn_cast<graph::ConstantOp>(op)) {
    known_[op] = llvm::SmallVector<Tensor>{constantOf(constant)};
    return true;
  }
  llvm::SmallVector<Tensor> operands;
  for (mlir::Value operand : op->getOperands()) {
    const auto &known = known_[operand.getDefiningOp()];
    if (!known)
      return false;
    operands.push_back((*known)[mlir::cast<mlir::OpResult>(operand).getResultNumber()]);
  }
  known_[op] = mlir::cast<graph::ReferenceInterface>(op).evaluate(operands);
  return true;
}

std::optional<Tensor> Evaluator::evaluate(mlir::Value value) {
  mlir::Operation *wanted = value.getDefiningOp();
  if (!wanted)
    return std::nullopt;
  // Operands first, without recursion: an op stays on the stack until its operands are decided.
  llvm::SmallVector<mlir::Operation *> stack{wanted};
  while (!stack.empty()) {
    mlir::Operation *op = stack.back();
    if (known_.contains(op)) {
      stack.pop_back();
      continue;
    }
    bool possible = mlir::isa<graph::ReferenceInterface>(op) && op->getNumRegions() == 0 &&
                    llvm::all_of(op->getResults(), isSmall);
    llvm::SmallVector<mlir::Operation *> unknown;
    for (mlir::Value operand : op->getOperands()) {
      mlir::Operation *source = operand.getDefiningOp();
      auto known = known_.find(source);
      if (!source || (known != known_.end() && !known->second))
        possible = false;
      else if (known == known_.end())
        unknown.push_back(source);
    }
    if (possible && !unknown.empty()) {
      stack.append(unknown);
      continue;
    }
    stack.pop_back();
    if (!possible || !compute(op))
      known_[op] = std::nullopt;
  }
  const auto &known = known_[wanted];
  if (!known)
    return std::nullopt;
  return (*known)[mlir::cast<mlir::OpResult>(value).getResultNumber()];
}

} // namespace cleave::onnx
