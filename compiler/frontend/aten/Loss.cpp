// Losses, whose `reduction` is none, mean or sum (PyTorch's numbers 0, 1, 2).
#include "compiler/frontend/aten/OpCall.h"

#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/emit/Coordinates.h"
#include "compiler/frontend/emit/Loss.h"
#include "compiler/frontend/emit/Normalization.h"
#include "compiler/frontend/emit/Ordering.h"
#include "compiler/frontend/emit/Reductions.h"

#include <cmath>

namespace cleave::aten {
namespace {

using emit::Predicate;
using emit::Reduction;

using emit::LossReduction;

LossReduction reductionOf(OpCall &c) {
  int64_t number = c.plainInteger("reduction");
  if (number < 0 || number > 2)
    fail("has the reduction number ", number, ", expected 0 to 2");
  return static_cast<LossReduction>(number);
}

Array reduced(OpCall &c, Array losses) { return emit::reduced(c.e, losses, reductionOf(c)); }

// -- classes --------------------------------------------------------------------------------------
emit::ClassLossOptions optionsOf(OpCall &c, double smoothing = 0) {
  emit::ClassLossOptions out;
  if (c.has("weight"))
    out.weights = c.cast(c.tensor("weight"), typeOf(c.floats("self")));
  out.ignored = c.plainInteger("ignore_index");
  out.reduction = reductionOf(c);
  out.smoothing = smoothing;
  return out;
}

Results negativeLogLikelihood(OpCall &c) {
  return emit::negativeLogLikelihood(c.e, c.floats("self"), c.tensor("target"), optionsOf(c));
}

// Targets that are probabilities of classes (dim 1); the mean is over all other dims.
Array softCrossEntropy(OpCall &c, Array x, Array target, double smoothing) {
  c.e.checkRank(x, 1);
  int64_t dim = rankOf(x) == 1 ? 0 : 1;
  target = c.cast(target, typeOf(x));
  if (smoothing > 0) {
    Array even = c.e.splatSize(target, 1, shapeOf(x)[dim]);
    target = c.e.add(c.e.mul(target, 1 - smoothing), c.e.mul(even, smoothing));
  }
  Array products = c.e.mul(emit::logSoftmax(c.e, x, dim), target);
  if (c.has("weight")) {
    Sizes column(rankOf(x) - dim, 1);
    column[0] = shapeOf(x)[dim];
    Array weights = c.e.reshape(c.cast(c.tensor("weight"), typeOf(x)), column);
    products = c.e.mul(products, c.e.broadcast(weights, shapeOf(products)));
  }
  return c.e.neg(c.e.reduce(Reduction::Sum, products, {dim}));
}

Results crossEntropy(OpCall &c) {
  Array x = c.floats("self"), target = c.tensor("target");
  double smoothing = c.number("label_smoothing");
  if (isFloating(target))
    return reduced(c, softCrossEntropy(c, x, target, smoothing));
  return emit::crossEntropy(c.e, x, target, optionsOf(c, smoothing));
}

// -- differences ----------------------------------------------------------------------------------
struct Compared {
  Array x, target;
};
Compared compared(OpCall &c) {
  ElementType type = c.floatType(promotedType(c, {c["self"], c["target"]}));
  Compared out{c.cast(c.tensor("self"), type), c.cast(c.tensor("target"), type)};
  c.e.broadcastTogether(out.x, out.target);
  return out;
}

Results meanSquared(OpCall &c) {
  auto [x, target] = compared(c);
  Array way = c.e.sub(x, target);
  return reduced(c, c.e.mul(way, way));
}
Results meanAbsolute(OpCall &c) {
  auto [x, target] = compared(c);
  return reduced(c, c.e.abs(c.e.sub(x, target)));
}

Results huber(OpCall &c) {
  auto [x, target] = compared(c);
  return reduced(c, emit::huber(c.e, x, target, c.number("delta")));
}
Results smoothAbsolute(OpCall &c) {
  auto [x, target] = compared(c);
  return reduced(c, emit::smoothAbsolute(c.e, x, target, c.number("beta")));
}

// -- probabilities --------------------------------------------------------------------------------
Array weighted(OpCall &c, Array losses) {
  if (!c.has("weight"))
    return losses;
  Array weight = c.cast(c.tensor("weight"), typeOf(losses));
  return c.e.mul(losses, c.e.broadcast(weight, shapeOf(losses)));
}

Results binaryCrossEntropy(OpCall &c) {
  auto [x, target] = compared(c);
  // Logarithms are clamped to at least -100. Their slopes are not: 1/p, of at most 1e12 p (1 - p).
  Array spread = stopped(c.e, c.e.max(c.e.mul(x, c.e.sub(1.0, x)), 1e-12));
  auto logarithm = [&](Array p) {
    Array slope = c.e.div(stopped(c.e, c.e.sub(1.0, p)), spread);
    return withGradientOf(c.e, c.e.mul(p, slope), c.e.max(c.e.unary<graph::LogOp>(p), -100.0));
  };
  Array yes = c.e.mul(target, logarithm(x));
  Array no = c.e.mul(c.e.sub(1.0, target), logarithm(c.e.sub(1.0, x)));
  return reduced(c, weighted(c, c.e.neg(c.e.add(yes, no))));
}

Results binaryCrossEntropyOfLogits(OpCall &c) {
  auto [x, target] = compared(c);
  Array posWeight = c.has("pos_weight") ? c.cast(c.tensor("pos_weight"), typeOf(x)) : Array();
  return reduced(c, weighted(c, emit::binaryCrossEntropyOfLogits(c.e, x, target, posWeight)));
}

Results divergence(OpCall &c) {
  auto [x, target] = compared(c);
  Array losses;
  if (c.boolean("log_target")) {
    losses = c.e.mul(c.e.unary<graph::ExpOp>(target), c.e.sub(target, x));
  } else {
    Array positive = c.e.compare(Predicate::GT, target, 0);
    Array safe = c.e.select(positive, target, c.e.splat(target, 1));
    Array entropy = c.e.mul(target, c.e.unary<graph::LogOp>(safe));
    losses = c.e.sub(entropy, c.e.mul(target, x));
  }
  return reduced(c, losses);
}

// log(1 + exp(-t x)).
Results softMargin(OpCall &c) {
  auto [x, target] = compared(c);
  return reduced(c, emit::softplus(c.e, c.e.neg(c.e.mul(target, x))));
}

// exp(x) - t x, or x - t log(x) of a rate itself; `full` adds Stirling's log(t!).
Results poisson(OpCall &c) {
  Array x = c.floats("input"), target = c.cast(c.tensor("target"), typeOf(x));
  c.e.broadcastTogether(x, target);
  Array losses =
      c.boolean("log_input")
          ? c.e.sub(c.e.unary<graph::ExpOp>(x), c.e.mul(target, x))
          : c.e.sub(x, c.e.mul(target, c.e.unary<graph::LogOp>(c.e.add(x, c.number("eps")))));
  if (c.boolean("full")) {
    Array isLarge = c.e.compare(Predicate::GT, target, 1);
    Array t = c.e.select(isLarge, target, c.e.splat(target, 1));
    Array whole = c.e.sub(c.e.mul(t, c.e.unary<graph::LogOp>(t)), t);
    Array rest = c.e.mul(c.e.unary<graph::LogOp>(c.e.mul(t, 2 * M_PI)), 0.5);
    losses = c.e.add(losses, c.e.select(isLarge, c.e.add(whole, rest), c.e.splat(target, 0)));
  }
  return reduced(c, losses);
}

// -- margins --------------------------------------------------------------------------------------
Array aboveZero(OpCall &c, Array x) { return emit::clamped(c.e, x, 0, std::nullopt); }

Results marginRanking(OpCall &c) {
  emit::Values all{c.floats("input1"), c.floats("input2"), c.floats("target")};
  c.e.broadcastTogether(all);
  Array way = c.e.mul(all[2], c.e.sub(all[0], all[1]));
  return reduced(c, aboveZero(c, c.e.sub(c.number("margin"), way)));
}

// `same` for targets 1, `other` for targets -1.
Array byTarget(OpCall &c, Array target, Array same, Array other) {
  emit::Values all{target, same, other};
  c.e.broadcastTogether(all);
  Array zero = c.e.splat(all[1], 0);
  return c.e.add(c.e.select(c.e.compare(Predicate::NE, all[0], -1), all[1], zero),
                 c.e.select(c.e.compare(Predicate::NE, all[0], 1), all[2], zero));
}

Results hingeEmbedding(OpCall &c) {
  Array x = c.floats("self");
  Array far = aboveZero(c, c.e.sub(c.number("margin"), x));
  return reduced(c, byTarget(c, c.cast(c.tensor("target"), typeOf(x)), x, far));
}

Results cosineEmbedding(OpCall &c) {
  Array x = c.floats("input1"), y = c.floats("input2"), target = c.floats("target");
  c.e.broadcastTogether(x, y);
  Ints dim{rankOf(target)};
  auto sum = [&](Array product) { return c.e.reduce(Reduction::Sum, product, dim); };
  constexpr double epsilon = 1e-12;
  auto square = [&](Array z) { return c.e.add(sum(c.e.mul(z, z)), epsilon); };
  Array sizes = c.e.unary<graph::SqrtOp>(c.e.mul(square(x), square(y)));
  Array cosine = c.e.div(sum(c.e.mul(x, y)), sizes);
  Array far = aboveZero(c, c.e.sub(cosine, c.number("margin")));
  return reduced(c, byTarget(c, target, c.e.sub(1.0, cosine), far));
}

Results tripletMargin(OpCall &c) {
  Array anchor = c.floats("anchor"), positive = c.floats("positive"),
        negative = c.floats("negative");
  auto distance = [&](Array x, Array y) {
    return emit::pairwiseDistance(c.e, x, y, c.number("p"), c.number("eps"), /*keep=*/false);
  };
  Array near = distance(anchor, positive), far = distance(anchor, negative);
  if (c.boolean("swap"))
    far = c.e.min(far, distance(positive, negative));
  return reduced(c, aboveZero(c, c.e.add(c.e.sub(near, far), c.number("margin"))));
}

// Rows of scores and their targets, with a batch of 1 in front if that is missing.
Compared rowsOf(OpCall &c, Array target) {
  Compared out{c.floats("self"), target};
  if (rankOf(out.x) == 1)
    out = {c.e.insertDim(out.x, 0), c.e.insertDim(target, 0)};
  c.e.checkRank(out.x, 2);
  return out;
}

// How far the scores of other classes are not `margin` below that of the target: [rows, classes].
Results multiMargin(OpCall &c) {
  auto [x, target] = rowsOf(c, c.tensor("target"));
  const bool isBatch = rankOf(c.tensor("self")) == 2;
  target = c.e.reshape(target, {shapeOf(x)[0], 1});
  const Sizes shape = shapeOf(x);
  auto ofTarget = [&](Array table) {
    Array one = emit::gatherElements(c.e, table, target, 1, /*neverNegative=*/true);
    return c.e.broadcast(one, shape);
  };
  const double power = c.number("p");
  if (power != 1 && power != 2)
    fail("has the power ", power, ", expected 1 or 2");
  Array far = c.e.add(c.e.sub(x, ofTarget(x)), c.number("margin"));
  Array number = c.e.iota(shape, 1, elementTypeOf(target));
  Array isOther = c.e.compare(Predicate::NE, number, c.e.broadcast(target, shape));
  Array counts = c.e.binary<graph::AndOp>(isOther, c.e.compare(Predicate::GT, far, 0));
  far = c.e.select(counts, far, c.e.splat(far, 0));
  if (power == 2)
    far = c.e.mul(far, far);
  if (c.has("weight"))
    far = c.e.mul(far, ofTarget(c.e.broadcast(c.cast(c.tensor("weight"), typeOf(x)), shape)));
  Array losses = c.e.mean(far, {1});
  return reduced(c, isBatch ? losses : c.e.reshape(losses, {}));
}

// How far the scores of other classes are not 1 below those of each target; the targets of a row
// end before the first -1.
Results multiLabelMargin(OpCall &c) {
  auto [x, target] = rowsOf(c, c.tensor("target"));
  c.e.checkRank(target, 2);
  const bool isBatch = rankOf(c.tensor("self")) == 2;
  Array ends = c.cast(c.e.compare(Predicate::LT, target, 0), ElementType::I64);
  Array isTarget = c.e.compare(Predicate::EQ, emit::cumulate(c.e, Reduction::Sum, ends, 1), 0);
  target = c.e.select(isTarget, target, c.e.splat(target, -1));
  const Polynomial rows = shapeOf(x)[0], classes = shapeOf(x)[1], places = shapeOf(target)[1];
  const Sizes cube{rows, places, classes};
  Array hits = c.e.compare(Predicate::EQ, c.e.iota(cube, 2, elementTypeOf(target)),
                           c.e.broadcast(c.e.insertDim(target, 2), cube));
  Array isAny = c.e.reduce(Reduction::Max, c.cast(hits, ElementType::I64), {1}); // [rows, classes]
  Array score = emit::gatherElements(c.e, x, target, 1, /*neverNegative=*/true); // 0 at -1
  Array far = c.e.sub(c.e.broadcast(c.e.insertDim(x, 1), cube),
                      c.e.broadcast(c.e.insertDim(score, 2), cube));
  far = c.e.add(far, 1.0);
  Array isPair = c.e.binary<graph::AndOp>(
      c.e.broadcast(c.e.insertDim(isTarget, 2), cube),
      c.e.broadcast(c.e.insertDim(c.e.compare(Predicate::EQ, isAny, 0), 1), cube));
  Array counts = c.e.binary<graph::AndOp>(isPair, c.e.compare(Predicate::GT, far, 0));
  Array sums = c.e.reduce(Reduction::Sum, c.e.select(counts, far, c.e.splat(far, 0)), {1, 2});
  Array losses = c.e.div(sums, c.e.splatSize(sums, classes));
  return {reduced(c, isBatch ? losses : c.e.reshape(losses, {})),
          c.cast(isBatch ? isAny : c.e.dropDim(isAny, 0), typeOf(x))};
}
Results multiLabelMarginLoss(OpCall &c) { return IValueList{multiLabelMargin(c).values[0]}; }

constexpr const char *kPair = "T self, T target, i reduction=1";
constexpr const char *kLabels =
    "T self, T target, T? weight=None, i reduction=1, i ignore_index=-100";

constexpr OpEntry kLossOps[] = {
    {"binary_cross_entropy", "T self, T target, T? weight=None, i reduction=1", binaryCrossEntropy},
    {"binary_cross_entropy_with_logits",
     "T self, T target, T? weight=None, T? pos_weight=None, i reduction=1",
     binaryCrossEntropyOfLogits},
    {"cosine_embedding_loss", "T input1, T input2, T target, f margin=0.0, i reduction=1",
     cosineEmbedding},
    {"cross_entropy_loss",
     "T self, T target, T? weight=None, i reduction=1, i ignore_index=-100, f label_smoothing=0.0",
     crossEntropy},
    {"hinge_embedding_loss", "T self, T target, f margin=1.0, i reduction=1", hingeEmbedding},
    {"huber_loss", "T self, T target, i reduction=1, f delta=1.0", huber},
    {"kl_div", "T self, T target, i reduction=1, *, b log_target=False", divergence},
    {"l1_loss", kPair, meanAbsolute},
    {"margin_ranking_loss", "T input1, T input2, T target, f margin=0.0, i reduction=1",
     marginRanking},
    {"mse_loss", kPair, meanSquared},
    {"multi_margin_loss", "T self, T target, s p=1, s margin=1, T? weight=None, i reduction=1",
     multiMargin},
    {"multilabel_margin_loss", kPair, multiLabelMarginLoss},
    {"multilabel_margin_loss_forward", kPair, multiLabelMargin},
    {"nll_loss", kLabels, negativeLogLikelihood},
    {"nll_loss2d", kLabels, negativeLogLikelihood},
    {"nll_loss2d_forward", kLabels, negativeLogLikelihood},
    {"nll_loss_forward", kLabels, negativeLogLikelihood},
    {"nll_loss_nd", kLabels, negativeLogLikelihood},
    {"poisson_nll_loss", "T input, T target, b log_input, b full, f eps, i reduction", poisson},
    {"smooth_l1_loss", "T self, T target, i reduction=1, f beta=1.0", smoothAbsolute},
    {"soft_margin_loss", kPair, softMargin},
    {"triplet_margin_loss",
     "T anchor, T positive, T negative, f margin=1.0, f p=2.0, f eps=1e-6, b swap=False, i "
     "reduction=1",
     tripletMargin},
};

} // namespace

llvm::ArrayRef<OpEntry> lossOps() { return kLossOps; }

} // namespace cleave::aten
