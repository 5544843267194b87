// LocalEmitter: kernels of mesh.slice and mesh.block_offset, which depend on the rank's
// coordinates.
#pragma once

#include "passes/codegen/nest/KernelBuilder.h"

namespace cleave::codegen {

// Emits the kernel of a mesh.slice or mesh.block_offset on dense tensors.
// The kernel's last buffer holds this rank's coordinate on every mesh axis, as i64.
void emitLocal(KernelBuilder &k, program::KernelOp kernel);

} // namespace cleave::codegen
