// The rewrite patterns of simplification, by theme; one file each.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace cleave::simplify {

void addConstantPatterns(mlir::RewritePatternSet &patterns); // what follows from constants alone
void addArithmeticPatterns(
    mlir::RewritePatternSet &patterns);                      // x + 0, casts of casts, known choices
void addMovementPatterns(mlir::RewritePatternSet &patterns); // moves that cancel or can be merged
void addContractionPatterns(mlir::RewritePatternSet &patterns); // transposes into dot_general
void addActivationPatterns(mlir::RewritePatternSet &patterns);  // gelu, silu, relu
void addNormPatterns(mlir::RewritePatternSet &patterns);        // layer_norm, rms_norm

} // namespace cleave::simplify
