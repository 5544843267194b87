// Whether the last step of an epoch may be completed by samples whose labels are ignored.
#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Step.h"
#include "passes/train/Parts.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::train {

// The name of a state of the model that follows from inputs; empty if there is none.
static std::string stateOfInputs(func::FuncOp step) {
  llvm::DenseSet<Value> ofInputs;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (isFed(step, i))
      ofInputs.insert(step.getArgument(i));
  auto isOfInputs = [&](Value value) { return ofInputs.contains(value); };
  for (Operation *op : opsOf(step))
    if (llvm::any_of(op->getOperands(), isOfInputs))
      ofInputs.insert(op->result_begin(), op->result_end());
  Operation *end = step.getBody().front().getTerminator();
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (resultRole(step, i) == "state" && isOfInputs(end->getOperand(i)))
      return resultName(step, i).str();
  return "";
}

std::string whyNotPadded(func::FuncOp step, const std::vector<LossOption> &losses) {
  for (const LossOption &loss : losses)
    if (loss.kind == LossOption::Kind::Output)
      return concat("the loss output", loss.output.empty() ? "" : ":", loss.output,
                    " counts every sample");
  if (!step.getOps<BatchNormOp>().empty())
    return "batch norms count every sample in their statistics, unless --batch-norm frozen was "
           "given to cleave-compile";
  const std::string state = stateOfInputs(step);
  return state.empty() ? "" : concat("the model computes its state `", state, "` of every sample");
}

} // namespace cleave::train
