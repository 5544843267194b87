// Group: the inside of a kernel group, and what splitting the group's factors means for each op in
// it.
#pragma once

#include "dialects/interfaces/FactorRule.h"

#include <optional>
#include <vector>

namespace cleave::planner {

// An op of the group; operands and results are numbers of the group's values.
struct GroupOp {
  FactorRule rule;
  std::vector<int> operands, results;
};

struct Group {
  std::vector<int> dims;      // per value its number of dims
  std::vector<GroupOp> ops;   // in program order
  std::vector<int> arguments; // the values that are the group's operands
  std::vector<int> yielded;   // the values that are its results
};

// Per op of the group the axes of its factors, when the group's factors (`rule` is the composed
// rule) are split by `axes`. Empty if an op inside cannot be split like that.
std::optional<std::vector<FactorAxes>> projectSplit(const Group &group, const FactorRule &rule,
                                                    const FactorAxes &axes, const Mesh &mesh);

} // namespace cleave::planner
