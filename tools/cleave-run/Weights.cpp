// See Weights.h.
#include "tools/cleave-run/Weights.h"

#include "runtime/artifact/Access.h"
#include "runtime/checkpoint/Best.h"

namespace cleave::run {

Result<checkpoint::Weights> weightsFor(const plan::Plan &plan, const Options &options,
                                       WeightRemarks &remarks) {
  std::string chosen = options.weights;
  if (options.best) {
    CLEAVE_TRY_ASSIGN(chosen, checkpoint::bestCheckpoint(options.weights));
  }
  CLEAVE_TRY_ASSIGN(checkpoint::Weights weights, checkpoint::openWeights(chosen));
  if (options.averages)
    CLEAVE_TRY(checkpoint::takeAverages(weights));
  checkpoint::ModelTensors model;
  for (const plan::Tensor &tensor : plan.tensors())
    if (tensor.role() == plan::PARAMETER ||
        (artifact::isModelState(tensor) && tensor.shape_size() > 0))
      model.needed[tensor.name()] = {tensor.shape().begin(), tensor.shape().end()};
    else if (tensor.role() == plan::CONSTANT || artifact::isModelState(tensor))
      model.known.insert(tensor.name());
  remarks.note = checkpoint::fitPrefix(weights, model);
  CLEAVE_TRY_ASSIGN(remarks.warning, checkpoint::checkWeights(weights, model));
  return weights;
}

std::string untrainedOf(const plan::Plan &plan) {
  std::string lines;
  for (const plan::Tensor &tensor : plan.tensors())
    if (tensor.role() == plan::CONSTANT &&
        (tensor.source().has_file() || tensor.source().has_random()))
      lines += tensor.name() + "\n";
  return lines;
}

} // namespace cleave::run
