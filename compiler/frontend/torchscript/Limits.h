// Limits: bounds the depth of evaluation, so that a file cannot exhaust the stack; and the
// exceptions that programs raise.
#pragma once

#include "compiler/frontend/emit/Failure.h"

namespace cleave::torchscript {

// Limit of nested calls and expressions; a call has the weight of several expressions.
inline constexpr int kCallWeight = 8;
inline constexpr int kMaxDepth = 1600;

// Counts one level while it exists; fails beyond kMaxDepth.
struct DepthGuard {
  DepthGuard(int &depth, int weight) : depth(depth), weight(weight) {
    if (depth + weight > kMaxDepth)
      emit::fail("calls are nested too deeply; does a function call itself without end?");
    depth += weight;
  }
  ~DepthGuard() { depth -= weight; }
  DepthGuard(const DepthGuard &) = delete;
  int &depth;
  int weight;
};

// Thrown where the program raises an exception: a user error, unless it is in a branch that depends
// on data and may not run.
struct Raised {
  std::string what;
};

} // namespace cleave::torchscript
