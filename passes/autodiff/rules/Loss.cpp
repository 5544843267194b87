// Gradients of losses.
#include "passes/autodiff/rules/Rules.h"

using namespace cleave::graph;
using namespace mlir;

namespace cleave::autodiff {

// (softmax - one at the label) × dy / number of labels, zero where the label is ignored. Written in
// the ops of the loss's decomposition, so that the forward pass's values are shared.
static Gradients softmaxCrossEntropy(SoftmaxCrossEntropyOp op, Term dy) {
  ImplicitLocOpBuilder &b = *dy.b;
  Term logits{&b, op.getLogits()}, labels{&b, op.getLabels()};
  Type element = elementTypeOf(logits), labelElement = elementTypeOf(labels);
  int64_t classDim = rankOf(logits) - 1;
  auto labelDims = llvm::to_vector(llvm::seq<int64_t>(0, classDim));
  auto ignored = static_cast<double>(static_cast<int64_t>(op.getIgnoreIndex()));
  Term weight = cast(labels != ignored, element);
  Term count = sum(weight, labelDims); // without any label the loss is no number, its gradient is 0
  Term share = select(count > 0, dy / count, count.splat(0));
  Term perLabel = weight * spread(share, labels, labelDims);
  Term classes{&b,
               IotaOp::create(b, tensorOf(shapeOf(logits), labelElement), classDim).getResult()};
  Term isLabel = classes == spread(labels, logits, classDim);
  Term softmax{&b, SoftmaxOp::create(b, logits, classDim).getResult()};
  return {(softmax - cast(isLabel, element)) * spread(perLabel, logits, classDim), Value()};
}

void addLossRules(RuleTable &table) { table.add<SoftmaxCrossEntropyOp>(softmaxCrossEntropy); }

} // namespace cleave::autodiff
