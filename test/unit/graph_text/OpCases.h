// Small programs that together use every op of the graph dialect, in double precision. Tests that
// walk all ops run them: gradients, factor rules, decompositions.
#pragma once

#include <string>
#include <vector>

namespace cleave::test {

// A function from `args` to `%y` of type `result`. Random arguments are in [low, high).
struct OpCase {
  std::string args, body, result;
  double low = -1, high = 1;

  // The function as text.
  std::string text() const;
};

// Cases in which `%y` is differentiable with respect to all float arguments.
std::vector<OpCase> differentiableCases();
// These, and at least one case for every other op.
std::vector<OpCase> allCases();

} // namespace cleave::test
