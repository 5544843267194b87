// Away: values that are kept in another space than device memory, and copied to and fro.
#pragma once

#include "mlir/IR/Value.h"

#include "llvm/ADT/DenseMap.h"

namespace cleave::program {
class ProgramOp;
} // namespace cleave::program

namespace cleave::schedule {

// To be called before lifetimes are set.
//
// Instructions access device memory only. So every persistent buffer outside of it gets buffers in
// device memory, one per use: accesses of one segment that follow each other closely. Each is
// filled from the persistent buffer before its first access, and copied back after its last one if
// the use writes it. A buffer with the attribute program::kAway has two uses, before and after the
// longest time without an access, if that is long: it is copied to a buffer in that space at the
// end of the first, and back into another buffer in device memory before the second. The attribute
// is removed.
//
// A buffer that is filled less often than it is read, such as a sum over micro-batches, stays.
//
// Between two accesses it is long if the instructions in between access `longPause` times as many
// bytes as the buffer has: kLongPause takes longer than a copy to a host at that part of the speed
// of device memory.
inline constexpr double kLongPause = 4;
//
// Returns, by buffer that was added, the buffer whose values it holds.
llvm::DenseMap<mlir::Value, mlir::Value> copyAway(program::ProgramOp program,
                                                  double longPause = kLongPause);

} // namespace cleave::schedule
