// Runs kernels of the program dialect on random data between guard pages and compares them with the
// interpreter.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/program/Program.h"
#include "test/fuzz/programs/Campaign.h"

#include "mlir/IR/BuiltinOps.h"

namespace cleave::fuzz {

// Appends a kernel for `op` (a graph.fusion, or an op that becomes a kernel alone) to `module`,
// with operands and results in random layouts that buffers and views allow.
program::KernelOp layOut(Choices &choices, mlir::ModuleOp module, mlir::Operation &op,
                         const std::string &name);

// Compiles the module's kernels, `checked` or with vectorization, runs each as a whole and in
// parts, and compares results and unwritten memory. Adds the numbers of kernels, compared elements
// and undecided elements to `count`. Returns the first error; empty if there is none.
std::string checkKernels(mlir::ModuleOp module, uint64_t seed, bool checked, int64_t *count);

} // namespace cleave::fuzz
