// Limits: how deep the evaluation of a program may go, so that a file cannot exhaust the stack; and
// the exceptions that a program raises.
#pragma once

#include "compiler/frontend/emit/Failure.h"

namespace cleave::torchscript {

// A call counts like so many expressions.
inline constexpr int kCallWeight = 8;
inline constexpr int kMaxDepth = 1600;

// Counts one level while it lives.
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

// Thrown where the program raises an exception: the user's error, unless it is not known whether
// this part of the program runs.
struct Raised {
  std::string what;
};

} // namespace cleave::torchscript
