// SharedLaunches: on GPUs, launches of one small kernel on different buffers become one launch. A
// launch costs microseconds, in which the memory moves megabytes; a model has hundreds of vectors
// (biases, scales of norms), and each has its sums, its norm and its update.
#pragma once

#include "dialects/program/Program.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <vector>

namespace cleave::bufferize {

// Limit of the bytes that one instance of a shared launch reads and writes: the memory moves this
// many in the time of a launch.
inline constexpr int64_t kSmallKernel = 8 << 20;

// The limits of one shared launch.
struct LaunchLimits {
  int64_t buffers = 512; // their addresses fit the 4 KiB that parameters may take
  // Read and written by all instances. The operands of all of them live until the launch, which
  // waits for the last one.
  int64_t bytes = 32 << 20;
};

// An instruction of a segment.
struct Launchable {
  struct Access {
    int64_t buffer = 0;
    bool isWritten = false;
  };
  int64_t kernel = -1; // instructions with the same one may share a launch; -1: not with others
  int64_t bytes = 0;   // read and written
  std::vector<Access> accesses;
};

// The instructions by index, in the order in which they run, those that share a launch together.
// Two instructions conflict if they access a common buffer, at least one of them to write: these
// keep their order, and do not share a launch. Plain data.
std::vector<std::vector<int64_t>> shareLaunches(const std::vector<Launchable> &segment,
                                                const LaunchLimits &limits = {});

// Lets small kernel groups of the program share launches. The buffers have not been placed.
void shareLaunches(program::ProgramOp program);
// Erases the kernels of the module that no program launches.
void eraseUnusedKernels(mlir::ModuleOp module);

} // namespace cleave::bufferize
