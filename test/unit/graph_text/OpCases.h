// Small programs that together use every op of the graph dialect, in double precision. Tests that
// walk all ops run them: gradients, factor rules, decompositions.
#pragma once

#include <string>
#include <vector>

namespace cleave::test {

// A function from `args` to `%y` of type `result`; random arguments are drawn from [low, high).
struct OpCase {
  std::string args, body, result;
  double low = -1, high = 1;

  std::string text() const;
};

// Those in which `%y` is to be differentiated by all float arguments, without ties and corners.
std::vector<OpCase> differentiableCases();
// Those, and one at least for every other op.
std::vector<OpCase> allCases();

} // namespace cleave::test
