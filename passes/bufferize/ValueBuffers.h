// ValueBuffers: makes the buffers of values, in the order of dims and with the pitch of rows that
// suit the ops which read and write them.
#pragma once

#include "compiler/analysis/ChannelsLast.h"
#include "passes/bufferize/ProgramBuilder.h"

namespace cleave::bufferize {

// Keeps a reference to the program.
class ValueBuffers {
public:
  ValueBuffers(mlir::func::FuncOp step, ProgramBuilder &program);

  // Adds a buffer for the value, named by its op and the suffix, in the layout chosen for it.
  View add(mlir::Value value, llvm::StringRef suffix = "");
  // Adds a buffer without pitch, with its dims in this order, from major to minor.
  View addIn(mlir::Value value, llvm::ArrayRef<int64_t> order);
  // Adds a buffer without pitch, with its dims in the order of these strides, the largest first.
  View addLike(mlir::Value value, llvm::ArrayRef<int64_t> strides);

  // Whether the value lies channels-last in memory, which only happens on GPUs.
  bool isChannelsLast(mlir::Value value) const { return channelsLast_.contains(value); }
  // The order in memory of the value's dims, if its op chooses it; empty: row-major.
  llvm::SmallVector<int64_t> chosenOrder(mlir::Value value) const;

  // Whether the rows of the buffer are padded.
  bool isPitched(mlir::Value buffer) const { return pitched_.contains(buffer); }
  // Whether the view has all elements of its buffer, apart from the padding of rows.
  bool hasAll(const View &view) const;
  // The view's strides as if its rows had no pitch. The planner derives copies from them.
  cost::Strided withoutPitch(const View &view) const;

private:
  // Whether the value's rows lie cost::rowPitch() apart: on GPUs, if a product reads or writes the
  // value, its elements have 16 bits, and its other users are kernel groups, which accept any
  // strides. A product that merges the last dim with another one needs rows without a pitch.
  bool hasPitch(mlir::Value value) const;

  ProgramBuilder &program_;
  bool isForGpus_;
  analysis::ChannelsLast channelsLast_; // empty on CPUs
  llvm::DenseSet<mlir::Value> pitched_; // buffers
};

} // namespace cleave::bufferize
