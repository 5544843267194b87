// Vocabulary: upper bounds of integer inputs of the step, from the tables that they index.
#pragma once

#include "dialects/graph/Step.h"

namespace cleave::analysis {

// Attribute of an argument of the step whose integers are used as indices: all of them must be less
// than this i64.
inline constexpr llvm::StringLiteral kVocabulary = "graph.vocabulary";
// Beside it, an i64 that they must not be less than, if that is not 0: of indices that may count
// from the end.
inline constexpr llvm::StringLiteral kLowest = "graph.lowest";
// Beside it, an i64 that is permitted as well: the class that all losses on the labels ignore.
inline constexpr llvm::StringLiteral kIgnored = "graph.ignored";

// Sets kVocabulary to the smallest number of rows or classes among the uses of an input:
//   * on inputs used as the indices of a gather or a scatter, directly or with negative indices
//     wrapped;
//   * on arguments with role `label` that hold the labels of a loss (-100 is permitted there; the
//     runtime exempts it by the name `….label`);
//   * on inputs of which only slices are indices (columns of categories, each with a table of its
//     own), if the slices cover all elements: the largest number of rows.
// Must run before losses are decomposed.
void recordVocabularies(mlir::func::FuncOp step);

} // namespace cleave::analysis
