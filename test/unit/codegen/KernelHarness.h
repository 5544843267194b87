// Compiles one op as a kernel, runs it on random data and compares with the op's reference
// evaluation.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/program/Program.h"

#include <map>
#include <string>

namespace cleave::test {

struct KernelCase {
  // The body of a function on tensors that holds one op and returns its results.
  std::string text;
  // Result -> operand in whose memory it lies.
  std::map<int, int> inPlace = {};
  // Largest difference, relative to max(1, |expected|).
  double tolerance = 2e-6;
  // Range of random floats; integers are drawn from [low, high) as well.
  double low = -2, high = 2;
};

// The largest difference over all results, or infinity (and a message on stderr) where the kernel
// could not be made. The parallel range is run whole, and cut into parts in reverse order.
double worstDifference(const KernelCase &testCase);

} // namespace cleave::test
