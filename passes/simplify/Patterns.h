// The rewrite patterns of simplification, by theme; one file each.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace cleave::simplify {

void addConstantPatterns(mlir::RewritePatternSet &patterns); // what follows from constants alone
void addArithmeticPatterns(
    mlir::RewritePatternSet &patterns);                      // x + 0, casts of casts, known choices
void addMovementPatterns(mlir::RewritePatternSet &patterns); // moves that cancel or can be merged
void addCountingPatterns(mlir::RewritePatternSet &patterns); // what follows from positions alone
void addMergedPatterns(mlir::RewritePatternSet &patterns); // work on merged dims, before the merge
void addContractionPatterns(mlir::RewritePatternSet &patterns);  // transposes into dot_general
void addActivationPatterns(mlir::RewritePatternSet &patterns);   // gelu, silu, relu
void addNormPatterns(mlir::RewritePatternSet &patterns);         // layer_norm, rms_norm
void addRotaryPatterns(mlir::RewritePatternSet &patterns);       // rotary
void addCrossEntropyPatterns(mlir::RewritePatternSet &patterns); // softmax_cross_entropy
void addAttentionPatterns(mlir::RewritePatternSet &patterns);    // attention
void addAttentionPartPatterns(
    mlir::RewritePatternSet &patterns); // what an attention takes in: masks, scale, shared heads

} // namespace cleave::simplify
