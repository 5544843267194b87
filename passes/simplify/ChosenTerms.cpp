// See ChosenTerms.h.
#include "passes/simplify/ChosenTerms.h"

#include "passes/simplify/Affine.h"
#include "passes/simplify/Repeats.h"

using namespace mlir;

namespace cleave::simplify {

using namespace graph;

Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

std::optional<Counts> countsOf(Value value) {
  value = withoutReshapes(value);
  if (auto cast = value.getDefiningOp<CastOp>())
    value = withoutReshapes(cast.getOperand());
  auto compare = value.getDefiningOp<CompareOp>();
  std::optional<double> ignored = compare ? splatValue(compare.getRhs()) : std::nullopt;
  if (!ignored || compare.getPredicate() != Predicate::NE ||
      !isa<IntegerType>(elementTypeOf(compare.getLhs())))
    return std::nullopt;
  return Counts{withoutReshapes(compare.getLhs()), static_cast<int64_t>(*ignored)};
}

namespace {

// Matches a factor or a select that masks ignored labels, for the first time or once more.
bool takeCounts(Value &value, Chosen &chosen) {
  std::optional<Counts> counts;
  Value masked;
  if (auto select = value.getDefiningOp<SelectOp>(); select && isSplatOf(select.getOnFalse(), 0)) {
    counts = countsOf(select.getCondition());
    masked = select.getOnTrue();
  }
  auto mul = value.getDefiningOp<MulOp>();
  for (int i : {0, 1})
    if (mul && !counts) {
      counts = countsOf(mul->getOperand(i));
      masked = mul->getOperand(1 - i);
    }
  if (!counts || (chosen.counts && *chosen.counts != *counts))
    return false;
  chosen.counts = counts;
  value = masked;
  return true;
}

// One element of each row of a table [positions…, classes]; labels are null if there is none.
struct Elements {
  Value table, labels;
};

Elements gathered(Value value) {
  auto gather = value.getDefiningOp<GatherOp>();
  int64_t last = gather ? rankOf(gather.getOperand()) - 1 : 0;
  if (last < 1 || static_cast<int64_t>(gather.getDim()) != last ||
      static_cast<int64_t>(gather.getBatch()) != last ||
      shapeOf(gather.getIndices()).back() != Polynomial(1))
    return {};
  return {gather.getOperand(), withoutReshapes(gather.getIndices())};
}

// Whether every element is the place where its row begins in the concatenation of all rows, which
// have `classes` elements each.
bool isBeginOfRow(Value value, const Polynomial &classes) {
  std::optional<Affine> affine = affineOf(value);
  if (!affine || affine->constant != Polynomial())
    return false;
  Shape shape = shapeOf(value);
  Polynomial before = classes;
  for (size_t d = shape.size(); d-- > 0; before = before * shape[d])
    if (shape[d] != Polynomial(1) && affine->steps[d] != before)
      return false;
  return true;
}

// Elements of the rows' concatenation, at the begin of each row plus its label.
Elements gatheredFlat(Value value) {
  auto gather = value.getDefiningOp<GatherOp>();
  if (!gather || rankOf(gather.getOperand()) != 1)
    return {};
  Value table = withoutReshapes(gather.getOperand());
  auto sum = withoutReshapes(gather.getIndices()).getDefiningOp<AddOp>();
  Polynomial classes = shapeOf(table).back();
  for (int i : {0, 1})
    if (sum && isBeginOfRow(sum->getOperand(i), classes) &&
        elementCount(sum.getType()) * classes == elementCount(table.getType()))
      return {table, withoutReshapes(sum->getOperand(1 - i))};
  return {};
}

// Whether every element is its index along the last dim.
bool isIndexOfClass(Value value) {
  if (!isa<IntegerType>(elementTypeOf(value)))
    return false;
  std::optional<Affine> affine = affineOf(value);
  if (!affine || affine->constant != Polynomial() || affine->steps.back() != Polynomial(1))
    return false;
  affine->steps.back() = Polynomial();
  return affine->isConstant();
}

// The tensor that `value` repeats along its last dim only, in the same order; null if there is
// none.
Value behindLastRepeats(Value value) {
  Shape shape = shapeOf(value);
  Moved moved = behindMoves(value);
  bool keepsOrder = llvm::all_of(moved.moves, [](Operation *move) {
    auto broadcast = dyn_cast<BroadcastOp>(move);
    return isa<ReshapeOp>(move) || (broadcast && llvm::is_sorted(broadcast.getDims()));
  });
  bool isRepeated = repeatedDims(value)[shape.size() - 1];
  return keepsOrder && isRepeated &&
                 elementCount(moved.source.getType()) * shape.back() ==
                     elementCount(value.getType())
             ? moved.source
             : Value();
}

// The labels of a boolean tensor that is true where the index along the last dim is the label.
Value labelsOf(Value isLabel) {
  auto compare = isLabel.getDefiningOp<CompareOp>();
  if (!compare || compare.getPredicate() != Predicate::EQ || rankOf(isLabel) < 2)
    return {};
  for (int i : {0, 1})
    if (isIndexOfClass(compare->getOperand(1 - i)))
      if (Value labels = behindLastRepeats(compare->getOperand(i)))
        return labels;
  return {};
}

// The condition of a tensor of ones and zeros; null for other values.
Value conditionOf(Value oneHot) {
  while (auto cast = oneHot.getDefiningOp<CastOp>())
    oneHot = cast.getOperand();
  auto select = oneHot.getDefiningOp<SelectOp>();
  if (select && isSplatOf(select.getOnTrue(), 1) && isSplatOf(select.getOnFalse(), 0))
    return select.getCondition();
  return elementTypeOf(oneHot).isInteger(1) ? oneHot : Value();
}

// A table times one-hot rows, or its sum along the classes: other elements are 0.
Elements oneHotProduct(Value value) {
  auto reduce = value.getDefiningOp<ReduceOp>();
  if (reduce && reduce.getKind() == Reduction::Sum &&
      reduce.getDims() == ArrayRef<int64_t>{rankOf(reduce.getOperand()) - 1})
    value = reduce.getOperand();
  if (auto select = value.getDefiningOp<SelectOp>(); select && isSplatOf(select.getOnFalse(), 0))
    return {select.getOnTrue(), labelsOf(select.getCondition())};
  auto mul = value.getDefiningOp<MulOp>();
  for (int i : {0, 1})
    if (Value condition = mul ? conditionOf(mul->getOperand(i)) : Value())
      if (Value labels = labelsOf(condition))
        return {mul->getOperand(1 - i), labels};
  return {};
}

Elements elementsIn(Value value) {
  Elements found = gathered(value);
  if (!found.labels)
    found = gatheredFlat(value);
  return found.labels ? found : oneHotProduct(value);
}

// x of log(sum of exp(x - origin)) + origin over the last dim, whatever the origin; null for other
// values.
Value behindLogSumExp(Value value) {
  Value origin;
  if (auto add = value.getDefiningOp<AddOp>())
    for (int i : {0, 1})
      if (add->getOperand(i).getDefiningOp<LogOp>()) {
        value = add->getOperand(i);
        origin = withoutReshapes(add->getOperand(1 - i));
      }
  auto log = value.getDefiningOp<LogOp>();
  auto sum = log ? withoutReshapes(log.getOperand()).getDefiningOp<ReduceOp>() : ReduceOp();
  auto exp = sum ? sum.getOperand().getDefiningOp<ExpOp>() : ExpOp();
  if (!exp || sum.getKind() != Reduction::Sum ||
      sum.getDims() != ArrayRef<int64_t>{rankOf(sum.getOperand()) - 1})
    return {};
  if (!origin)
    return exp.getOperand();
  auto sub = exp.getOperand().getDefiningOp<SubOp>();
  auto spread = sub ? withoutReshapes(sub.getRhs()).getDefiningOp<BroadcastOp>() : BroadcastOp();
  return spread && withoutReshapes(spread.getOperand()) == origin ? sub.getLhs() : Value();
}

// Matches elements of logits minus their log-sum-exp, or the opposite.
bool takeLogitsMinusSum(Value value, Chosen &chosen) {
  auto sub = value.getDefiningOp<SubOp>();
  for (int i : {0, 1}) {
    Value logits = sub ? behindLogSumExp(withoutReshapes(sub->getOperand(1 - i))) : Value();
    Elements found = logits ? elementsIn(withoutReshapes(sub->getOperand(i))) : Elements();
    if (!found.labels || found.table != logits)
      continue;
    chosen.table = logits;
    chosen.labels = found.labels;
    chosen.holdsLogits = true;
    chosen.isNegated ^= i == 1;
    return true;
  }
  return false;
}

bool takeElements(Value value, Chosen &chosen) {
  if (takeLogitsMinusSum(value, chosen))
    return true;
  Elements found = elementsIn(value);
  chosen.table = found.table;
  chosen.labels = found.labels;
  return bool(found.labels);
}

} // namespace

std::optional<Chosen> chosenIn(Value value) {
  constexpr int kMaxSteps = 8;
  Chosen chosen;
  for (int step = 0; step < kMaxSteps && !chosen.labels; ++step) {
    value = withoutReshapes(value);
    if (auto neg = value.getDefiningOp<NegOp>()) {
      chosen.isNegated = !chosen.isNegated;
      value = neg.getOperand();
    } else if (!takeElements(value, chosen) && !takeCounts(value, chosen)) {
      return std::nullopt;
    }
  }
  if (!chosen.labels)
    return std::nullopt;
  // Exporters may replace an ignored label by a valid one.
  auto select = chosen.labels.getDefiningOp<SelectOp>();
  if (select && chosen.counts && splatValue(select.getOnFalse()))
    if (countsOf(select.getCondition()) == chosen.counts)
      chosen.labels = withoutReshapes(select.getOnTrue());
  return chosen;
}

} // namespace cleave::simplify
