// MachineCode: compiles emitted kernels to machine code.
#pragma once

#include "passes/codegen/nest/LlvmModule.h"
#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace cleave::codegen {

// Name and features of this machine's CPU in LLVM's terms: "znver4 +avx512f,…".
std::string hostTarget();

// Optimises for the kernels' speed (Full), or for the time of compilation (Fast), as for checked
// kernels and small ones.
enum class Effort { Full, Fast };

// Optimises for this machine and returns an ELF object. May run in several threads. Writes the
// optimised IR to the file `dumpTo` unless that is empty.
Result<std::string> compileObject(LlvmModule module, Effort effort, const std::string &dumpTo = "");

// Links objects into one shared object by ld.lld.
Result<std::string> linkShared(const std::vector<std::string> &objects);

} // namespace cleave::codegen
