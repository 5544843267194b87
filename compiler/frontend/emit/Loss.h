// Losses: of classifiers, whose labels are class numbers, and of elements beside their targets.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// How losses of positions become one: not at all, their weighted mean, or their sum.
enum class LossReduction { None, Mean, Sum };

// The losses of all positions as one.
Value reduced(const Emitter &e, Value losses, LossReduction reduction);

// Options of negativeLogLikelihood() and crossEntropy().
struct ClassLossOptions {
  std::optional<int64_t> classDim; // none: 1, or 0 of [classes]
  Value weights;                   // [classes]; null: all 1
  // Positions with this label have weight 0.
  std::optional<int64_t> ignored;
  LossReduction reduction = LossReduction::Mean;
  double smoothing = 0; // part of each label that is spread over all classes
};

// The weights by which a mean is weighted, for each label: that of its class, 0 if it is ignored.
// `element`: their type. Null: all 1.
Value positionWeights(const Emitter &e, Value labels, mlir::Type element,
                      const ClassLossOptions &options);

// -logProbabilities at the label. `logProbabilities` is [batch, classes, positions…] or [classes],
// `labels` are integers [batch, positions…] or []: without the dim of the classes.
Value negativeLogLikelihood(const Emitter &e, Value logProbabilities, Value labels,
                            const ClassLossOptions &options);

// negativeLogLikelihood of log(softmax(logits)); one graph.softmax_cross_entropy where possible.
Value crossEntropy(const Emitter &e, Value logits, Value labels, const ClassLossOptions &options);

// The losses of elements x beside targets of the same type and shape; none is reduced.
// -t log(sigmoid(x)) w - (1 - t) log(1 - sigmoid(x)) for logits x. `posWeight` w is broadcast to x;
// null: 1.
Value binaryCrossEntropyOfLogits(const Emitter &e, Value x, Value target, Value posWeight);
// d^2 / 2 for differences |d| < bound, else bound (|d| - bound / 2); |d| for the bound 0.
Value huber(const Emitter &e, Value x, Value target, double bound);
// The same over the bound.
Value smoothAbsolute(const Emitter &e, Value x, Value target, double bound);

} // namespace cleave::emit
