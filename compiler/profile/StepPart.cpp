// Parts follow from the step's results and from its micro-batches.
#include "compiler/profile/StepPart.h"

#include "dialects/graph/Step.h"

using namespace mlir;

namespace cleave::profile {

// Whether result i is computed by the forward pass.
static bool isForward(func::FuncOp step, unsigned i) {
  const std::optional<Role> role = graph::resultRole(step, i);
  if (role == Role::Loss || role == Role::Output)
    return true;
  std::optional<unsigned> replaced = graph::aliasOf(step, i);
  return role == Role::State && replaced && !step.getArgAttr(*replaced, "graph.parameter");
}

llvm::DenseMap<Operation *, StepPart> partsOf(func::FuncOp step) {
  Block &body = step.getBody().front();
  llvm::DenseSet<Operation *> repeated = graph::perMicroBatch(step), forward;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (Operation *op = value.getDefiningOp(); op && isForward(step, i))
      forward.insert(op);
  bool isTraining = !body.getOps<graph::AccumulateOp>().empty();
  llvm::DenseMap<Operation *, StepPart> parts;
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    bool isNeeded = forward.contains(&op);
    if (isNeeded)
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp())
          forward.insert(producer);
    parts[&op] = !isTraining               ? StepPart::Forward
                 : !repeated.contains(&op) ? StepPart::Update
                 : isNeeded                ? StepPart::Forward
                                           : StepPart::Backward;
  }
  return parts;
}

} // namespace cleave::profile
