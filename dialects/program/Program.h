// The program dialect: the program of one rank, as buffers at offsets of an arena and instructions
// on them. ProgramOps.td describes ops and attributes; they correspond to
// runtime/artifact/program.proto.
#pragma once

#include "runtime/base/Collective.h"
#include "runtime/base/Role.h"
#include "runtime/base/Space.h"

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

namespace cleave::program {

using cleave::CollectiveKind;
using cleave::Role;
using cleave::Space;

// The instruction exchanges buffers with other ranks.
template <typename Op> class Communicates : public mlir::OpTrait::TraitBase<Op, Communicates> {};
// The instruction copies between the memories of host and device.
template <typename Op> class HostTransfer : public mlir::OpTrait::TraitBase<Op, HostTransfer> {};

} // namespace cleave::program

#define GET_TYPEDEF_CLASSES
#include "dialects/program/ProgramTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/program/ProgramAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/program/ProgramOps.h.inc"

namespace cleave::program {

// The attribute of a module, from the phase `primitive` on, with the kind of device that its
// program is for: `cuda`; absent or `cpu` for CPUs.
inline constexpr llvm::StringLiteral kDevice = "program.device";
// Whether the program of the module that holds `op` is for GPUs.
bool isForGpus(mlir::Operation *op);
// Bytes at whose multiples the buffers of that program in a space begin.
int64_t bufferAlignmentOf(mlir::Operation *op, Space space = Space::Device);

// Whether an instruction copies between the memories of host and device.
bool isHostTransfer(mlir::Operation *instruction);

// The attribute of a buffer in device memory that is to be in another space while nothing accesses
// it for long: that space.
inline constexpr llvm::StringLiteral kAway = "away";

// The attribute of a copy between spaces: how many instructions after it may run before its buffers
// are used again. 0 without it.
inline constexpr llvm::StringLiteral kFlight = "flight";

// Elements between neighbours along each dim of a dense row-major tensor.
llvm::SmallVector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape);

// The view of a dense row-major tensor at the beginning of buffer number `buffer`.
ViewAttr denseView(mlir::MLIRContext *context, int64_t buffer, llvm::ArrayRef<int64_t> shape);

} // namespace cleave::program
