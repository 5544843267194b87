// Regions of the model that compute in f32 whatever --dtype says: there the file disables
// torch.autocast. Importers mark the ops of a region, and the finished step has ops at its borders,
// which passes/precision reads and drops.
#pragma once

#include "dialects/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#define GET_OP_CLASSES
#include "dialects/graph/F32Region.h.inc"

namespace cleave::graph {

// Marks an op as one of a region, or as none of it although it lies between ops of a region. The
// first mark stays.
void markF32Region(mlir::Operation *op, bool isInside);

// Marks the ops that the builder inserts at its insertion point while this object exists.
class F32RegionScope {
public:
  F32RegionScope(mlir::OpBuilder &b, bool isInside);
  ~F32RegionScope();
  F32RegionScope(const F32RegionScope &) = delete;

private:
  mlir::OpBuilder &b_;
  mlir::Operation *last_; // before the insertion point; null: none
  bool isInside_;
};

// Replaces the marks by ops: each f32 value passes a graph.enter_f32 on its way from the ops
// outside of regions to those inside, and a graph.leave_f32 on its way back. Constants of equal
// elements pass without.
void buildF32Borders(mlir::func::FuncOp step);

// Drops the border ops. The region is lost.
void dropF32Borders(mlir::func::FuncOp function);

} // namespace cleave::graph
