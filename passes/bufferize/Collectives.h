// Lowers collectives. They transfer whole buffers, except buffers without elements. Blocks along a
// dim that is not the leading one are packed before and unpacked after, by the rules of
// compiler/cost/Packing.h.
#pragma once

#include "dialects/mesh/MeshDialect.h"
#include "passes/bufferize/ValueViews.h"

namespace cleave::bufferize {

// Keeps references to the constructor's arguments.
class CollectiveLowering {
public:
  CollectiveLowering(ProgramBuilder &program, const Mesh &mesh, ValueViews &views)
      : program_(program), mesh_(mesh), views_(views) {}

  // Add the instruction, with copies around it where blocks have to be packed or unpacked.
  void lower(mesh::AllReduceOp op);
  void lower(mesh::AllGatherOp op);
  void lower(mesh::ReduceScatterOp op);
  void lower(mesh::AllToAllOp op);
  void lower(mesh::PermuteOp op);

private:
  // The blocks of `whole` along `dim`, consecutive in a whole buffer.
  mlir::Value pack(const View &whole, int64_t dim, int64_t ranks, int64_t block);
  void unpack(mlir::Value blocks, llvm::ArrayRef<int64_t> blockShape, int64_t ranks, int64_t dim,
              const View &whole);
  // Adds the instruction, if anything is transferred.
  void add(program::CollectiveKind kind, mlir::ArrayAttr axes, int64_t reduce,
           llvm::ArrayRef<mlir::Value> send, llvm::ArrayRef<mlir::Value> recv,
           mlir::ArrayAttr toAxes = {}, mlir::UnitAttr reversed = {});
  int64_t ranksAlong(mlir::ArrayAttr axes) const;

  ProgramBuilder &program_;
  const Mesh &mesh_;
  ValueViews &views_;
};

} // namespace cleave::bufferize
