// RandomKeys: keys for draws of random numbers that differ from draw to draw and from micro-batch
// to micro-batch.
#pragma once

#include "compiler/frontend/step/StepBuilder.h"

namespace cleave::frontend {

class RandomKeys {
public:
  explicit RandomKeys(StepBuilder &step) : step_(step) {}

  // An int64 scalar: 65536 times the number of the micro-batch, plus twice the number of the draw
  // within it. The next number is unused. Adds the state that counts micro-batches at the first
  // call.
  mlir::Value next();
  // Adds the result that increments the count, if there is one.
  void addStateResult();

private:
  StepBuilder &step_;
  mlir::BlockArgument counter_; // float64 scalar; null: nothing has been drawn
  int draws_ = 0;
};

} // namespace cleave::frontend
