// The phase `train`, of a training step.
//
//  S1–S10 The signature is complete (Signature.cpp).
//  P1     Every parameter is graph.trainable, nothing else is, and every parameter has a result
//         that replaces it.
//  P2     Every state has a result that replaces it; its graph.parameter, if any, names a
//         parameter.
//  P3     Exactly one result has the role loss, a single float; none has the role output.
//  P4     There are no gradient stops.
//  P5     Every dropout that drops elements has a seed.
//  P6     All graph.accumulate ops count the same number of micro-batches.
//  P7     There are no borders of f32 regions.
#include "passes/promise/Promise.h"

#include "passes/promise/Rules.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace cleave::promise {

static constexpr StringLiteral kTrainPhase = "train";

// P1, P2
static LogicalResult checkUpdates(func::FuncOp step) {
  llvm::DenseSet<unsigned> replaced;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (std::optional<unsigned> alias = graph::aliasOf(step, i))
      replaced.insert(*alias);
  llvm::StringSet<> parameters;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (graph::argRole(step, i) == Role::Parameter)
      parameters.insert(graph::argName(step, i));
  auto broken = [&](StringRef rule, unsigned i) {
    return promise::broken(step.getLoc(), kTrainPhase, rule)
           << StringRef(name(graph::argRole(step, i))) << " '" << graph::argName(step, i) << "' ";
  };
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    bool isParameter = graph::argRole(step, i) == Role::Parameter;
    bool isState = graph::argRole(step, i) == Role::State;
    if (isParameter != graph::isTrainable(step, i))
      return broken("P1", i) << (isParameter ? "is not graph.trainable"
                                             : "is graph.trainable, expected parameters only");
    if ((isParameter || isState) && !replaced.contains(i))
      return broken(isParameter ? "P1" : "P2", i) << "is replaced by no result";
    auto owner = step.getArgAttrOfType<StringAttr>(i, "graph.parameter");
    if (isState && owner && !parameters.contains(owner.getValue()))
      return broken("P2", i) << "belongs to " << owner << ", which is not a parameter";
  }
  return success();
}

// P3
static LogicalResult checkLoss(func::FuncOp step) {
  unsigned losses = 0;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    Type type = step.getResultTypes()[i];
    if (graph::resultRole(step, i) == Role::Output)
      return broken(step.getLoc(), kTrainPhase, "P3")
             << "result '" << graph::resultName(step, i) << "' is an output, expected none";
    if (graph::resultRole(step, i) != Role::Loss)
      continue;
    ++losses;
    if (!isa<FloatType>(graph::elementTypeOf(type)) || graph::elementCount(type) != Polynomial(1))
      return broken(step.getLoc(), kTrainPhase, "P3")
             << "the loss has the type " << type << ", expected a single float";
  }
  if (losses != 1)
    return broken(step.getLoc(), kTrainPhase, "P3")
           << "the step has " << losses << " results of the role loss, expected one";
  return success();
}

LogicalResult checkTrain(ModuleOp module) {
  if (failed(checkSignature(module, kTrainPhase)))
    return failure();
  func::FuncOp step = graph::stepOf(module);
  if (failed(checkUpdates(step)) || failed(checkLoss(step)) ||
      failed(checkNoGradientStops(step, kTrainPhase, "P4")) ||
      failed(checkNoF32Borders(step, kTrainPhase, "P7")))
    return failure();
  std::optional<int64_t> microBatches;
  for (Operation &op : step.getBody().front()) {
    auto dropout = dyn_cast<graph::DropoutInterface>(op);
    if (dropout && dropout.getDropRate() > 0 && !dropout.getSeed())
      return broken(&op, kTrainPhase, "P5") << "drops elements, but has no seed";
    auto accumulate = dyn_cast<graph::AccumulateOp>(op);
    if (!accumulate)
      continue;
    int64_t count = static_cast<int64_t>(accumulate.getCount());
    if (count != microBatches.value_or(count))
      return broken(&op, kTrainPhase, "P6")
             << "counts " << count << " micro-batches, another one counts " << *microBatches;
    microBatches = count;
  }
  return success();
}

} // namespace cleave::promise
