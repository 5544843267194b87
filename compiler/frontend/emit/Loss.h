// Losses of classifiers, whose labels are class numbers.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// How losses of positions become one: not at all, their weighted mean, or their sum.
enum class LossReduction { None, Mean, Sum };

// Options of negativeLogLikelihood() and crossEntropy().
struct ClassLossOptions {
  Value weights; // [classes]; null: all 1
  // Positions with this label have weight 0.
  std::optional<int64_t> ignored;
  LossReduction reduction = LossReduction::Mean;
  double smoothing = 0; // part of each label that is spread over all classes
};

// -logProbabilities at the label. `logProbabilities` is [batch, classes, positions…] or [classes],
// `labels` are integers [batch, positions…] or [].
Value negativeLogLikelihood(const Emitter &e, Value logProbabilities, Value labels,
                            const ClassLossOptions &options);

// negativeLogLikelihood of log(softmax(logits)); one graph.softmax_cross_entropy where possible.
Value crossEntropy(const Emitter &e, Value logits, Value labels, const ClassLossOptions &options);

} // namespace cleave::emit
