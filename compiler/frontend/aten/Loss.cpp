// Losses, whose `reduction` is none, mean or sum (PyTorch's numbers 0, 1, 2).
#include "compiler/frontend/aten/OpCall.h"

#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/emit/Loss.h"
#include "compiler/frontend/emit/Normalization.h"

#include <cmath>

namespace cleave::aten {
namespace {

using emit::Predicate;
using emit::Reduction;

using emit::LossReduction;

LossReduction reductionOf(OpCall &c) {
  int64_t number = c.plainInteger("reduction");
  if (number < 0 || number > 2)
    fail("has the reduction number " + std::to_string(number) + ", expected 0 to 2");
  return static_cast<LossReduction>(number);
}

Array reduced(OpCall &c, Array losses) {
  LossReduction over = reductionOf(c);
  Dims all = emit::dimsFrom(0, rankOf(losses));
  if (over == LossReduction::None)
    return losses;
  return over == LossReduction::Mean ? c.e.mean(losses, all)
                                     : c.e.reduce(Reduction::Sum, losses, all);
}

// -- classes --------------------------------------------------------------------------------------
emit::ClassLossOptions optionsOf(OpCall &c, double smoothing = 0) {
  emit::ClassLossOptions out;
  if (c.has("weight"))
    out.weights = c.tensor("weight");
  out.ignored = c.plainInteger("ignore_index");
  out.reduction = reductionOf(c);
  out.smoothing = smoothing;
  return out;
}

Results negativeLogLikelihood(OpCall &c) {
  return emit::negativeLogLikelihood(c.e, c.floats("self"), c.tensor("target"), optionsOf(c));
}

// Targets that are probabilities of the classes (dim 1): the mean is over everything else.
Array softCrossEntropy(OpCall &c, Array x, Array target, double smoothing) {
  int64_t dim = rankOf(x) == 1 ? 0 : 1;
  target = c.cast(target, typeOf(x));
  if (smoothing > 0) {
    Array even = c.e.splatSize(target, 1, shapeOf(x)[dim]);
    target = c.e.add(c.e.mul(target, 1 - smoothing), c.e.mul(even, smoothing));
  }
  Array products = c.e.mul(emit::logSoftmax(c.e, x, dim), target);
  if (c.has("weight")) {
    Shape column(rankOf(x) - dim, 1);
    column[0] = shapeOf(x)[dim];
    Array weights = c.e.reshape(c.tensor("weight"), column);
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
struct Pair {
  Array x, target;
};
Pair operands(OpCall &c) {
  ElementType type = c.floatType(promotedType(c, {c["self"], c["target"]}));
  Pair out{c.cast(c.tensor("self"), type), c.cast(c.tensor("target"), type)};
  c.e.broadcastTogether(out.x, out.target);
  return out;
}

Results meanSquared(OpCall &c) {
  auto [x, target] = operands(c);
  Array way = c.e.sub(x, target);
  return reduced(c, c.e.mul(way, way));
}
Results meanAbsolute(OpCall &c) {
  auto [x, target] = operands(c);
  return reduced(c, c.e.abs(c.e.sub(x, target)));
}

// Quadratic below `bound`, linear above: way^2 / 2 and bound (|way| - bound / 2).
Array huberOf(OpCall &c, double bound) {
  auto [x, target] = operands(c);
  Array way = c.e.sub(x, target), size = c.e.abs(way);
  if (bound == 0)
    return size;
  Array near = c.e.mul(c.e.mul(way, way), 0.5), far = c.e.mul(c.e.sub(size, bound / 2), bound);
  return c.e.select(c.e.compare(Predicate::LT, size, bound), near, far);
}
Results huber(OpCall &c) { return reduced(c, huberOf(c, c.number("delta"))); }
Results smoothAbsolute(OpCall &c) {
  double beta = c.number("beta");
  Array losses = huberOf(c, beta);
  return reduced(c, beta == 0 ? losses : c.e.div(losses, beta));
}

// -- probabilities --------------------------------------------------------------------------------
Array weighted(OpCall &c, Array losses) {
  if (!c.has("weight"))
    return losses;
  return c.e.mul(losses, c.e.broadcast(c.tensor("weight"), shapeOf(losses)));
}

Results binaryCrossEntropy(OpCall &c) {
  auto [x, target] = operands(c);
  auto logarithm = [&](Array p) { return c.e.max(c.e.unary<graph::LogOp>(p), -100.0); };
  Array yes = c.e.mul(target, logarithm(x));
  Array no = c.e.mul(c.e.sub(1.0, target), logarithm(c.e.sub(1.0, x)));
  return reduced(c, weighted(c, c.e.neg(c.e.add(yes, no))));
}

// (1 - t) x - (1 + (w - 1) t) log(sigmoid(x)).
Results binaryCrossEntropyOfLogits(OpCall &c) {
  auto [x, target] = operands(c);
  Array logarithm = emit::logSigmoid(c.e, x);
  if (c.has("pos_weight")) {
    Array weight = c.e.broadcast(c.tensor("pos_weight"), shapeOf(x));
    logarithm = c.e.mul(logarithm, c.e.add(c.e.mul(c.e.sub(weight, 1.0), target), 1.0));
  }
  Array losses = c.e.sub(c.e.mul(c.e.sub(1.0, target), x), logarithm);
  return reduced(c, weighted(c, losses));
}

Results divergence(OpCall &c) {
  auto [x, target] = operands(c);
  Array losses;
  if (c.truth("log_target")) {
    losses = c.e.mul(c.e.unary<graph::ExpOp>(target), c.e.sub(target, x));
  } else {
    Array positive = c.e.compare(Predicate::GT, target, 0);
    Array safe = c.e.select(positive, target, c.e.splat(target, 1));
    Array entropy = c.e.mul(target, c.e.unary<graph::LogOp>(safe));
    losses = c.e.sub(entropy, c.e.mul(target, x));
  }
  return reduced(c, losses);
}

constexpr const char *kPair = "T self, T target, i reduction=1";
constexpr const char *kLabels =
    "T self, T target, T? weight=None, i reduction=1, i ignore_index=-100";

constexpr OpEntry kOps[] = {
    {"binary_cross_entropy", "T self, T target, T? weight=None, i reduction=1", binaryCrossEntropy},
    {"binary_cross_entropy_with_logits",
     "T self, T target, T? weight=None, T? pos_weight=None, i reduction=1",
     binaryCrossEntropyOfLogits},
    {"cross_entropy_loss",
     "T self, T target, T? weight=None, i reduction=1, i ignore_index=-100, f label_smoothing=0.0",
     crossEntropy},
    {"huber_loss", "T self, T target, i reduction=1, f delta=1.0", huber},
    {"kl_div", "T self, T target, i reduction=1, *, b log_target=False", divergence},
    {"l1_loss", kPair, meanAbsolute},
    {"mse_loss", kPair, meanSquared},
    {"nll_loss", kLabels, negativeLogLikelihood},
    {"nll_loss2d", kLabels, negativeLogLikelihood},
    {"nll_loss2d_forward", kLabels, negativeLogLikelihood},
    {"nll_loss_forward", kLabels, negativeLogLikelihood},
    {"nll_loss_nd", kLabels, negativeLogLikelihood},
    {"smooth_l1_loss", "T self, T target, i reduction=1, f beta=1.0", smoothAbsolute},
};

} // namespace

llvm::ArrayRef<OpEntry> lossOps() { return kOps; }

} // namespace cleave::aten
