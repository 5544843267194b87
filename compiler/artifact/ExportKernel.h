// ExportKernel: a kernel of the program dialect in the terms of the plan file, with its signature.
#pragma once

#include "dialects/program/Program.h"
#include "runtime/artifact/program.pb.h"

namespace cleave::artifact {

// The plan's entry for the kernel: symbol, extent, cost and one parameter per buffer, with the
// bytes that its views reach. Needs `extent`, which code generation sets, and the module's mesh.
plan::Kernel exportKernel(program::KernelOp kernel);

} // namespace cleave::artifact
