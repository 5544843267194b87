// Kernels of the program dialect on random data, between guard pages, against the interpreter.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/program/Program.h"
#include "test/fuzz/programs/Campaign.h"

#include "mlir/IR/BuiltinOps.h"

namespace cleave::fuzz {

// Adds a kernel for `op` (a graph.fusion, or an op that is a kernel of its own) to the end of `module`, with operands and
// results that lie in memory in any way that buffers and views can bring about.
program::KernelOp layOut(Choices &choices, mlir::ModuleOp module, mlir::Operation &op,
                         const std::string &name);

// Compiles the module's kernels, `checked` or as users run them, runs each whole and in parts, and compares results and
// untouched memory. `count` is raised by the kernels, elements compared and elements undecided. Empty if all is well.
std::string checkKernels(mlir::ModuleOp module, uint64_t seed, bool checked, int64_t *count);

} // namespace cleave::fuzz
