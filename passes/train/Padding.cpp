// Whether the last step of an epoch may be completed by samples whose labels are ignored.
#include "compiler/analysis/Samples.h"
#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Provenance.h"
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
    if (resultRole(step, i) == Role::State && isOfInputs(end->getOperand(i)))
      return resultName(step, i).str();
  return "";
}

// The name in the model of the first op that combines samples in an output that a loss reads; empty
// if no op does.
static std::string meetingOf(func::FuncOp step, const std::vector<LossOption> &losses) {
  const analysis::Samples samples(step);
  Operation *end = step.getBody().front().getTerminator();
  for (const LossOption &loss : losses)
    if (std::optional<unsigned> output = outputNamed(step, loss.output))
      if (Operation *meeting = samples.meetingOf(end->getOperand(*output))) {
        const std::string name = graph::nameOf(meeting->getLoc()).str();
        return name.empty() ? meeting->getName().stripDialect().str() : name;
      }
  return "";
}

std::string whyNotPadded(func::FuncOp step, const std::vector<LossOption> &losses,
                         bool isEvaluation) {
  for (const LossOption &loss : losses)
    if (loss.kind == LossOption::Kind::Output)
      return concat("the loss output", loss.output.empty() ? "" : ":", loss.output,
                    " counts every sample");
  if (!step.getOps<BatchNormOp>().empty())
    return "batch norms count every sample in their statistics, unless --batch-norm frozen was "
           "given to cleave-compile";
  if (const std::string state = isEvaluation ? "" : stateOfInputs(step); !state.empty())
    return concat("the model computes its state `", state, "` of every sample");
  const std::string meeting = meetingOf(step, losses);
  return meeting.empty() ? "" : concat("`", meeting, "` combines the samples of a batch");
}

} // namespace cleave::train
