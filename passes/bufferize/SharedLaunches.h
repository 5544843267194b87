// SharedLaunches: on GPUs, launches of one small kernel on different buffers become one launch of
// all. A launch costs microseconds, as much as reading megabytes; a model has hundreds of vectors
// (biases, norms) that are summed, measured and updated by kernels of their own.
#pragma once

#include "dialects/program/Program.h"

#include <cstdint>
#include <vector>

namespace cleave::bufferize {

// Bytes that a kernel with shared launches reads and writes, per instance, at most: those that the
// memory moves in the time of a launch.
inline constexpr int64_t kSmallKernel = 8 << 20;

// Of a launch.
struct LaunchLimits {
  int64_t buffers = 512; // their addresses fit the 4 KiB that parameters may take
  // Read and written by all instances. A launch waits for the operands of all of them, which live
  // longer until then.
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

// Which instructions run together, by index, in the order in which they run. A launch is moved over
// others only if they access no common buffer, one of them to write; instructions that run together
// do neither. Plain data.
std::vector<std::vector<int64_t>> shareLaunches(const std::vector<Launchable> &segment,
                                                const LaunchLimits &limits = {});

// Lets small kernel groups of the program share launches. The buffers have not been placed.
void shareLaunches(program::ProgramOp program);
// Erases the kernels of the module that no program launches.
void eraseUnusedKernels(mlir::ModuleOp module);

} // namespace cleave::bufferize
