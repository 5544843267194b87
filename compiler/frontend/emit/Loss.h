// Losses of classifiers: a class per position, given as a number.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

enum class LossReduction { None, Mean, Sum };

struct ClassLossOptions {
  Value weights; // [classes]; null: all 1
  // Positions with this label do not count.
  std::optional<int64_t> ignored;
  LossReduction reduction = LossReduction::Mean; // Mean: over the weights of what counts
  double smoothing = 0; // so much of every label is spread over all classes
};

// -logProbability of the label. Classes are dim 1 of the first operand [batch, classes, positions…] (dim 0 if it is
// [classes]); labels [batch, positions…] integers.
Value negativeLogLikelihood(const Emitter &e, Value logProbabilities, Value labels,
                            const ClassLossOptions &options);

// The same of log(softmax(logits)); the common case is one graph.softmax_cross_entropy.
Value crossEntropy(const Emitter &e, Value logits, Value labels, const ClassLossOptions &options);

} // namespace cleave::emit
