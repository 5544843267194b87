// Bucket: joins all_reduces into few large ones, so that their latency is paid once per bucket.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::schedule {

// The most bytes of a bucket, unless a single tensor is larger.
inline constexpr int64_t kBucketBytes = int64_t(25) << 20;

// Moves every all_reduce of the step directly behind its operand, then joins all_reduces that
// follow each other and do not depend on each other. Readers of an early member are moved behind
// the bucket. Members of a bucket agree in kind, axes, element type and whether they run once per
// micro-batch or once per step. The order depends on the program only: it is the same on all ranks.
void bucketReductions(mlir::func::FuncOp step, int64_t bucketBytes = kBucketBytes);

// Registers --cleave-schedule-bucket.
void registerBucketPass();

} // namespace cleave::schedule
