// Patterns: the rewrite patterns of simplification, one file per theme.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace cleave::simplify {

void addConstantPatterns(mlir::RewritePatternSet &patterns);   // constant operands
void addArithmeticPatterns(mlir::RewritePatternSet &patterns); // x + 0, casts of casts, selects
void addMovementPatterns(mlir::RewritePatternSet &patterns);   // moves that cancel or can be merged
void addCountingPatterns(mlir::RewritePatternSet &patterns);   // comparisons and sums of positions
void addMergedPatterns(mlir::RewritePatternSet &patterns); // work on merged dims, before the merge
void addContractionPatterns(mlir::RewritePatternSet &patterns);  // transposes into dot_general
void addActivationPatterns(mlir::RewritePatternSet &patterns);   // gelu, silu, relu
void addDrawPatterns(mlir::RewritePatternSet &patterns);         // dropout, of ones
void addSoftmaxPatterns(mlir::RewritePatternSet &patterns);      // softmax
void addNormPatterns(mlir::RewritePatternSet &patterns);         // layer_norm, rms_norm
void addRotaryPatterns(mlir::RewritePatternSet &patterns);       // rotary
void addExpertPatterns(mlir::RewritePatternSet &patterns);       // grouped_matmul
void addCrossEntropyPatterns(mlir::RewritePatternSet &patterns); // softmax_cross_entropy
void addAttentionPatterns(mlir::RewritePatternSet &patterns);    // attention
// Moves masks, scales and shared heads into an attention op.
void addAttentionPartPatterns(mlir::RewritePatternSet &patterns);

} // namespace cleave::simplify
