// Bucket: joins all_reduces into few large ones, so that their latency is paid once per bucket.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace cleave::schedule {

// What one bucket holds at most, unless a single tensor is larger.
inline constexpr int64_t kBucketBytes = int64_t(25) << 20;

// Moves every all_reduce of the step directly behind its operand, then joins those that follow each other and do not
// depend on each other; what reads an early one waits for the bucket. Only equal kinds, axes, element types and, with
// micro-batches, equal numbers of repetitions are joined. The order depends on the program only: it is the same on
// all ranks.
void bucketReductions(mlir::func::FuncOp step, int64_t bucketBytes = kBucketBytes);

// --cleave-schedule-bucket="bytes=…"
std::unique_ptr<mlir::Pass> createBucketPass();

} // namespace cleave::schedule
