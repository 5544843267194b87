// Limits: bounds the depth and the work of a program, so that a file can exhaust neither the stack
// nor the time of an import; and the exceptions that programs raise.
#pragma once

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torchscript/Objects.h"

#include <string>

namespace cleave::torchscript {

// Limit of nested calls and expressions; a call has the weight of several expressions.
inline constexpr int kCallWeight = 8;
inline constexpr int kMaxDepth = 1600;

// What one run of a program has used so far, and whether it may write.
class Limits {
public:
  // Accounts for work, in units of about a microsecond; fails beyond the limit.
  void spend(int64_t work);
  // Accounts for one call of an operator; fails beyond the limit.
  void countOperator();
  // Fails where `value` must not become part of `around` (Nesting.h).
  void checkFits(const IValue &value, const IValue &around);
  // Fails on `what`, a write, inside of a branch that depends on data.
  void checkCertain(const std::string &what) const;

  int depth = 0;     // of calls and expressions, counted by DepthGuard
  int uncertain = 0; // enclosing branches that depend on data

private:
  int64_t work_ = 0, operators_ = 0; // spent, called
};

// Counts one level while it exists; fails beyond kMaxDepth.
struct DepthGuard {
  DepthGuard(Limits &limits, int weight);
  ~DepthGuard() { limits.depth -= weight; }
  DepthGuard(const DepthGuard &) = delete;
  Limits &limits;
  int weight;
};

// Thrown where the program raises an exception: a user error, unless it is in a branch that depends
// on data and may not run.
struct Raised {
  std::string what;
};

} // namespace cleave::torchscript
