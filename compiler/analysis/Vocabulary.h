// Vocabulary: what integers among the step's inputs may be, seen from what they index.
#pragma once

#include "dialects/graph/Step.h"

namespace cleave::analysis {

// On an argument of the step with integers that index something: what they must be below, an i64.
inline constexpr llvm::StringLiteral kVocabulary = "graph.vocabulary";

// Sets it on every input that is used, as it comes or with negative numbers counted from the end, as the indices of a
// gather, and on every `….label` that holds the labels of a loss (which may also be -100, as the runtime knows by the
// name): the least number of rows or classes among these uses. Where only slices of an input index something (columns of
// categories, each with a table of its own), it is the largest, if no element goes unused. To be called before losses are decomposed.
void recordVocabularies(mlir::func::FuncOp step);

} // namespace cleave::analysis
