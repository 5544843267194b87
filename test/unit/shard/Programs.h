// Small steps that together hold every way in which factors can meet.
#pragma once

#include <string>
#include <vector>

namespace cleave::test {

struct Program {
  const char *name;
  const char *text;          // a module with the function @step
  double low = -1, high = 1; // of the arguments' elements (integers: [low, high))
};

const std::vector<Program> &programs();

} // namespace cleave::test
