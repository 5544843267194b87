// Loss: softmax cross entropy.
#include "dialects/graph/Build.h"

#include <cmath>

using namespace mlir;

namespace cleave::graph {

LogicalResult SoftmaxCrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                      Adaptor adaptor,
                                                      SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf({}, elementTypeOf(adaptor.getLogits())));
  return success();
}

LogicalResult SoftmaxCrossEntropyOp::verify() {
  Shape logits = shapeOf(getLogits());
  if (logits.empty() || Shape(logits.begin(), logits.end() - 1) != shapeOf(getLabels())) {
    auto diag =
        emitOpError() << "needs labels of the shape of the logits without their last dim, found "
                      << getLabels().getType() << " for " << getLogits().getType();
    diag.attachNote(getLogits().getLoc()) << "the logits come from here";
    diag.attachNote(getLabels().getLoc()) << "the labels come from here";
    return diag;
  }
  return success();
}

FactorRule SoftmaxCrossEntropyOp::getFactorRule() {
  FactorRule rule;
  FactorRule::Dims logits, labels;
  Shape shape = shapeOf(getLogits());
  for (auto [d, size] : llvm::enumerate(shape)) {
    rule.factors.push_back(
        {size, FactorKind::Replicated}); // the divisor counts the labels of all ranks
    logits.push_back({static_cast<int>(d)});
    if (d + 1 < shape.size())
      labels.push_back(logits.back());
  }
  rule.operands = {logits, labels};
  rule.results = {{}};
  return rule;
}
Polynomial SoftmaxCrossEntropyOp::getFlops() {
  return elementCount(getLogits().getType()) * Polynomial(5);
}

SmallVector<Tensor> SoftmaxCrossEntropyOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &logits = operands[0], &labels = operands[1];
  int64_t classes = logits.shape.back();
  double loss = 0, count = 0;
  for (int64_t row = 0; row < labels.size(); ++row) {
    if (labels.values[row] == static_cast<double>(static_cast<int64_t>(getIgnoreIndex())))
      continue;
    count += 1;
    // As in the decomposition, a label that is no class adds 0 to the sum but is counted.
    double label = labels.values[row];
    if (!(label >= 0 && label < static_cast<double>(classes)))
      continue;
    const double *x = &logits.values[row * classes];
    double largest = *std::max_element(x, x + classes), sum = 0;
    for (int64_t c = 0; c < classes; ++c)
      sum += std::exp(x[c] - largest);
    loss += largest + std::log(sum) - x[static_cast<int64_t>(label)];
  }
  Tensor result(logits.type, {});
  result.set(0, loss / count);
  return {result};
}

// log(sum(exp(x - largest))) - (x[label] - largest). The logit at the label is picked by comparing
// class numbers, which is valid for any block of classes. It depends on no other reduction: one
// pass over the logits finds it and the largest.
SmallVector<Value> SoftmaxCrossEntropyOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  Value logits = getLogits(), labels = getLabels();
  int64_t classDim = rankOf(logits) - 1;
  Type labelType = elementTypeOf(labels);
  Value classes = IotaOp::create(b, loc, tensorOf(shapeOf(logits), labelType), classDim);
  Value isLabel = CompareOp::create(b, loc, Predicate::EQ, classes,
                                    buildBroadcastOver(b, labels, logits, classDim));
  Value chosen = SelectOp::create(b, loc, isLabel, logits, buildSplatLike(b, logits, 0));
  Value picked = buildReduce(b, Reduction::Sum, chosen, classDim);
  Value largest = buildReduce(b, Reduction::Max, logits, classDim);
  Value shifted = SubOp::create(b, loc, logits, buildBroadcastOver(b, largest, logits, classDim));
  Value sum = buildReduce(b, Reduction::Sum, ExpOp::create(b, loc, shifted), classDim);
  Value perLabel =
      SubOp::create(b, loc, LogOp::create(b, loc, sum), SubOp::create(b, loc, picked, largest));
  Value ignored =
      buildSplatLike(b, labels, static_cast<double>(static_cast<int64_t>(getIgnoreIndex())));
  Value counts = CompareOp::create(b, loc, Predicate::NE, labels, ignored);
  // A product with 0 would keep a NaN in the logits of an ignored label; a select does not.
  Value counted = SelectOp::create(b, loc, counts, perLabel, buildSplatLike(b, perLabel, 0));
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, classDim));
  Value total = buildReduce(b, Reduction::Sum, counted, all);
  Value count = buildReduce(b, Reduction::Sum, buildCast(b, counts, elementTypeOf(logits)), all);
  return {DivOp::create(b, loc, total, count)};
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Loss.cpp.inc"

void cleave::graph::GraphDialect::addLossOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Loss.cpp.inc"
      >();
}
