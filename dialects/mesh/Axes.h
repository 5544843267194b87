// Lists of mesh axes in text: {dp, tp}.
#pragma once

#include "mlir/IR/OpImplementation.h"

namespace cleave::mesh {

mlir::ParseResult parseAxes(mlir::AsmParser &parser, mlir::ArrayAttr &axes);
void printAxes(mlir::AsmPrinter &printer, mlir::ArrayAttr axes);
// As TableGen's custom directive calls it.
inline void printAxes(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::ArrayAttr axes) {
  printAxes(printer, axes);
}

} // namespace cleave::mesh
