// The C++ side of OpInterfaces.td.
#pragma once

#include "dialects/interfaces/FactorRule.h"
#include "dialects/interfaces/Tensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OpDefinition.h"

namespace cleave::graph {

// The same op with the same attributes and regions on other operands and result types.
llvm::SmallVector<mlir::Value> cloneWith(mlir::OpBuilder &b, mlir::Operation *op,
                                         mlir::ValueRange operands, mlir::TypeRange resultTypes);

} // namespace cleave::graph

#include "dialects/interfaces/OpInterfaces.h.inc"
