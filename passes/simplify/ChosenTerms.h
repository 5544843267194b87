// ChosenTerms: recognises the log-probabilities of labels, of which a cross entropy is the mean.
#pragma once

#include "passes/simplify/Match.h"

namespace cleave::simplify {

// PyTorch's default ignore_index, which is not the number of a class.
constexpr int64_t kNeverLabel = -100;

// The mask of labels that count: labels != ignored, as numbers or booleans.
struct Counts {
  Value labels;
  int64_t ignored = kNeverLabel;
  bool operator==(const Counts &) const = default;
};
// The mask that `value` is; none for other values.
std::optional<Counts> countsOf(Value value);

// The log-probabilities of labels: elements of a log_softmax, or elements of the logits minus their
// log-sum-exp.
struct Chosen {
  Value table;              // [positions…, classes]: the log_softmax after moves, or the logits
  bool holdsLogits = false; // which of them `table` is
  Value labels;             // one per position, before reshapes
  bool isNegated = false;
  std::optional<Counts> counts; // the terms of other labels are 0
};
// The terms whose sum is the sum of all elements of `value`; none for other values. An element is
// found by gather or as the sum of its row times a one-hot row.
std::optional<Chosen> chosenIn(Value value);

// The operand of reshapes.
Value withoutReshapes(Value value);

} // namespace cleave::simplify
