// IndexingEmitter: kernels of gather and scatter.
#pragma once

#include "passes/codegen/nest/KernelBuilder.h"

namespace cleave::codegen {

// A table has the form [batch, outer, rows, inner], the chosen rows the form [batch, outer,
// indices, inner].
struct Table {
  int64_t batch = 1, outer = 1, rows = 1, inner = 1;
  int64_t indices = 1; // in each batch
  mlir::Type element, indexElement;
};
// The form of a table whose dim `dim` the indices choose from; the first `batch` dims are batches.
Table tableOf(mlir::Value table, mlir::Value indices, int64_t dim, int64_t batch);
// Index `i` of the batch to which the block `o` of [batch, outer] belongs, as i64.
mlir::Value loadIndex(KernelBuilder &k, const Table &t, int64_t argument, mlir::Value o,
                      mlir::Value i);
// from <= index < to
mlir::Value isBetween(KernelBuilder &k, mlir::Value index, mlir::Value from, mlir::Value to);

// Emits the kernel of a gather or scatter on dense tensors. Gather is split over the rows that it
// writes; scatter over the rows of its result or the blocks around them, so that parts write to
// disjoint elements, each in the order of the updates.
void emitIndexing(KernelBuilder &k, program::KernelOp kernel);

} // namespace cleave::codegen
