// Lowers ops on the coordinates of the rank in the mesh: kernels that also read the buffer of the
// coordinates.
#pragma once

#include "dialects/mesh/MeshDialect.h"
#include "passes/bufferize/ValueViews.h"

namespace cleave::bufferize {

// Keeps references to the constructor's arguments.
class CoordinateLowering {
public:
  CoordinateLowering(ProgramBuilder &program, const Mesh &mesh, ValueViews &views)
      : program_(program), mesh_(mesh), views_(views) {}

  // Adds the buffer at once if the mesh splits the step among ranks.
  void addIfSplit();
  // Launches the kernel of a mesh.slice or mesh.block_offset.
  void lower(mlir::Operation *op);

private:
  // The buffer of the coordinates, added at the first call.
  mlir::Value buffer();

  ProgramBuilder &program_;
  const Mesh &mesh_;
  ValueViews &views_;
  mlir::Value buffer_; // null before its first use
};

} // namespace cleave::bufferize
