// Lists of mesh axes in text: {dp, tp}.
#pragma once

#include "mlir/IR/OpImplementation.h"

namespace cleave::mesh {

// Parses and prints such a list as an array of strings.
mlir::ParseResult parseAxes(mlir::AsmParser &parser, mlir::ArrayAttr &axes);
void printAxes(mlir::AsmPrinter &printer, mlir::ArrayAttr axes);
// The overload that TableGen's custom<Axes> directive calls.
inline void printAxes(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::ArrayAttr axes) {
  printAxes(printer, axes);
}

} // namespace cleave::mesh
