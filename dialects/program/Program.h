// The program dialect: what one rank does, as buffers at offsets and instructions on them. Ops and
// attributes are described in ProgramOps.td; they say what runtime/artifact/program.proto says.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/program/ProgramDialect.h.inc"
#include "dialects/program/ProgramEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/program/ProgramTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/program/ProgramAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/program/ProgramOps.h.inc"

namespace cleave::program {

// Elements between neighbours along each dim of a dense row-major tensor.
llvm::SmallVector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape);

// A dense tensor that begins at the buffer's first element.
ViewAttr denseView(mlir::MLIRContext *context, int64_t buffer, llvm::ArrayRef<int64_t> shape);

} // namespace cleave::program
