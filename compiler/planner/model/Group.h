// Group: the ops inside a kernel group, and how a split of the group's factors splits each of them.
#pragma once

#include "dialects/interfaces/FactorRule.h"

#include <optional>
#include <vector>

namespace cleave::planner {

// An op of the group; operands and results are indices of the group's values.
struct GroupOp {
  FactorRule rule;
  std::vector<int> operands, results;
};

// A kernel group as plain data.
struct Group {
  std::vector<int> dims;      // per value the number of its dims
  std::vector<GroupOp> ops;   // in program order
  std::vector<int> arguments; // the values that are the group's operands
  std::vector<int> yielded;   // the values that are its results
};

// Per op of the group the axes of its factors if the factors of the group are split by `axes`;
// `rule` is the group's composed rule. Nothing if an op inside cannot be split that way.
std::optional<std::vector<FactorAxes>> projectSplit(const Group &group, const FactorRule &rule,
                                                    const FactorAxes &axes, const Mesh &mesh);

} // namespace cleave::planner
