// LocalEmitter: kernels of mesh.slice and mesh.block_offset, which depend on the rank's
// coordinates.
#pragma once

#include "passes/codegen/cpu/KernelBuilder.h"

namespace cleave::codegen {

// Emits the kernel of a mesh.slice or mesh.block_offset on dense tensors and returns its extent.
// The kernel's last buffer holds this rank's coordinate on every mesh axis, as i64.
int64_t emitLocal(KernelBuilder &k, program::KernelOp kernel);

} // namespace cleave::codegen
