// Simplify: folds and canonicalizes an imported step, and recognises composites that the exporter
// decomposed. Changes results by rounding at most.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::simplify {

// Whether composites are formed of their parts.
enum class Composites { Form, Leave };

// Folds constants, removes needless ops and merges equal ones until nothing changes. With `Form`
// also replaces the parts of activation functions, norms, rotary embeddings, cross entropies and
// attention by these composites. Fails with a diagnostic if the patterns do not come to an end.
mlir::LogicalResult simplify(mlir::func::FuncOp function, Composites composites = Composites::Form);

// Registers --cleave-simplify, which forms composites.
void registerSimplifyPasses();

} // namespace cleave::simplify
