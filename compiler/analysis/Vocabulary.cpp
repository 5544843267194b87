// From uses back to the arguments.
#include "compiler/analysis/Vocabulary.h"

using namespace mlir;

namespace cleave::analysis {

// x of `x < 0 ? x + count : x`, or null.
static Value unwrapped(Value index, int64_t count) {
  auto select = index.getDefiningOp<graph::SelectOp>();
  auto sum = select ? select.getOnTrue().getDefiningOp<graph::AddOp>() : nullptr;
  auto compare = select ? select.getCondition().getDefiningOp<graph::CompareOp>() : nullptr;
  if (!sum || !compare || sum.getLhs() != select.getOnFalse() ||
      compare.getLhs() != select.getOnFalse())
    return {};
  auto isSplat = [](Value value, double wanted) { // through broadcasts
    while (auto broadcast = value.getDefiningOp<graph::BroadcastOp>())
      value = broadcast.getOperand();
    return graph::splatValue(value) == wanted;
  };
  bool wraps = compare.getPredicate() == graph::Predicate::LT && isSplat(compare.getRhs(), 0) &&
               isSplat(sum.getRhs(), static_cast<double>(count));
  return wraps ? select.getOnFalse() : Value();
}

// What `index` is a copy of, element by element, but for wrapping at `count`.
static Value sourceOf(Value index, int64_t count) {
  while (Operation *op = index.getDefiningOp()) {
    bool isSame =
        isa<graph::ReshapeOp, graph::TransposeOp, graph::BroadcastOp, graph::SliceOp>(op) ||
        (isa<graph::CastOp>(op) && !isa<FloatType>(graph::elementTypeOf(op->getOperand(0))));
    Value before = isSame ? op->getOperand(0) : unwrapped(index, count);
    if (!before)
      break;
    index = before;
  }
  return index;
}

void recordVocabularies(func::FuncOp step) {
  auto record = [&](Value index, const Polynomial &size, StringRef ending) {
    std::optional<int64_t> count = size.constant();
    auto argument = count ? dyn_cast<BlockArgument>(sourceOf(index, *count)) : nullptr;
    if (!argument || !graph::isPerMicroBatch(step, argument.getArgNumber()))
      return;
    unsigned number = argument.getArgNumber();
    if (!graph::argName(step, number).ends_with(ending))
      return;
    if (auto known = step.getArgAttrOfType<IntegerAttr>(number, kVocabulary))
      count = std::min(*count, known.getInt());
    step.setArgAttr(number, kVocabulary, Builder(step).getI64IntegerAttr(*count));
  };
  for (Operation &op : step.getBody().front())
    if (auto gather = dyn_cast<graph::GatherOp>(op))
      record(gather.getIndices(), graph::shapeOf(gather.getOperand())[gather.getDim()], "");
    else if (auto loss = dyn_cast<graph::SoftmaxCrossEntropyOp>(op))
      record(loss.getLabels(), graph::shapeOf(loss.getLogits()).back(), ".label");
}

} // namespace cleave::analysis
