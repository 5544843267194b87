// Bucket: joins the all_reduces of each bucket of the plan (compiler/planner/network/Buckets.h), so
// that their latency is paid once.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::schedule {

// Joins the all_reduces with the same mesh.bucket, which agree in kind, axes and element type, at
// the place of the last one. Readers of the others are moved behind it, but no further than needed.
// No member may depend on another one.
void bucketReductions(mlir::func::FuncOp step);

// Registers --cleave-schedule-bucket.
void registerBucketPass();

} // namespace cleave::schedule
