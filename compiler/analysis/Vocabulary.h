// Vocabulary: upper bounds of integer inputs of the step, from the tables that they index.
#pragma once

#include "dialects/graph/Step.h"

namespace cleave::analysis {

// Attribute of an argument of the step whose integers are used as indices: all of them must be less
// than this i64.
inline constexpr llvm::StringLiteral kVocabulary = "graph.vocabulary";

// Sets kVocabulary to the smallest number of rows or classes among the uses of an input:
//   * on inputs used as the indices of a gather, directly or with negative indices wrapped;
//   * on arguments with role `label` that hold the labels of a loss (-100 is permitted there; the
//     runtime exempts it by the name `….label`);
//   * on inputs of which only slices are indices (columns of categories, each with a table of its
//     own), if the slices cover all elements: the largest number of rows.
// Must run before losses are decomposed.
void recordVocabularies(mlir::func::FuncOp step);

} // namespace cleave::analysis
