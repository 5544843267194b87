// See Resume.h.
#include "tools/cleave-run/Resume.h"

#include "runtime/artifact/Access.h"
#include "runtime/checkpoint/Resume.h"

namespace cleave::run {

// The plan may contain values that were derived from its constants.
static Status checkConstants(const plan::Plan &plan, const checkpoint::Checkpoint &checkpoint) {
  for (const plan::Tensor &tensor : plan.tensors())
    if (tensor.role() == plan::CONSTANT && checkpoint.tensors().contains(tensor.name()))
      return Status::userError(
          "'", checkpoint.path(), "' has a trained '", tensor.name(),
          "', which is a constant in this plan; resume under a plan that trains the same "
          "parameters, or compile the model that cleave-export writes from the checkpoint");
  return Status::ok();
}

Result<std::vector<std::string>> checkResume(const plan::Plan &plan,
                                             const checkpoint::Checkpoint &checkpoint,
                                             const LearningRates &rates, bool restartsOptimizer) {
  CLEAVE_TRY(checkConstants(plan, checkpoint));
  checkpoint::Training training{rates.optimizer(), {}, rates.schedule()};
  for (const plan::Tensor &tensor : plan.tensors())
    if (tensor.role() == plan::PARAMETER || tensor.role() == plan::STATE)
      training.tensors[tensor.name()] = artifact::isOptimizerState(tensor);
  return checkpoint::compareForResume(checkpoint, training, restartsOptimizer);
}

} // namespace cleave::run
