// Classification losses that are part of a model.
#include "compiler/frontend/emit/Loss.h"

#include "compiler/frontend/onnx/ops/OpTable.h"
#include "compiler/frontend/onnx/parameters/Metadata.h"

namespace cleave::onnx {
namespace {

using namespace emit;

ClassLossOptions readLoss(NodeImport &n) {
  n.checkInputs(2, 3);
  ClassLossOptions options;
  options.weights = n.optionalInput(2);
  if (n.hasAttribute("ignore_index"))
    options.ignored = n.integer("ignore_index", 0);
  std::string reduction = n.string("reduction", "mean");
  if (reduction == "none")
    options.reduction = LossReduction::None;
  else if (reduction == "sum")
    options.reduction = LossReduction::Sum;
  else if (reduction != "mean")
    fail("attribute 'reduction' is '", reduction, "', expected none, sum or mean");
  return options;
}

Values importNegativeLogLikelihood(NodeImport &n) {
  return {negativeLogLikelihood(n, n.input(0), n.input(1), readLoss(n))};
}

// The format has no smoothing, and PyTorch's exporter drops it.
double smoothingOf(const NodeImport &n) {
  std::optional<FxNode> fx = fxNodeOf(n.node);
  return fx && fx->target == "aten.cross_entropy_loss.default" ? fx->number(5).value_or(0) : 0;
}

Values importSoftmaxCrossEntropy(NodeImport &n) {
  ClassLossOptions options = readLoss(n);
  options.smoothing = smoothingOf(n);
  Value scores = n.input(0);
  Values outputs = {crossEntropy(n, scores, n.input(1), options)};
  if (n.hasOutput(1))
    outputs.push_back(graph::LogSoftmaxOp::create(n.b, n.loc, scores.getType(), scores,
                                                  rankOf(scores) > 1 ? 1 : 0));
  return outputs;
}

constexpr OpEntry kLossOps[] = {
    {"NegativeLogLikelihoodLoss", 12, importNegativeLogLikelihood},
    {"SoftmaxCrossEntropyLoss", 12, importSoftmaxCrossEntropy},
};

} // namespace

llvm::ArrayRef<OpEntry> lossOps() { return kLossOps; }

} // namespace cleave::onnx
