// Liveness inside a group, and the price of an op with fewer operands and results.
#include "compiler/planner/remat/PartOfGroup.h"

#include <algorithm>

namespace cleave::planner {

GroupPart partOf(const Op &op, const std::vector<bool> &needed, const std::vector<bool> &given) {
  const size_t results = op.results.size(), operands = op.operands.size();
  if (!op.group)
    return {std::vector<bool>(results, true), std::vector<bool>(results, false),
            std::vector<bool>(operands, true)};
  const Group &group = *op.group;
  std::vector<bool> isGiven(group.dims.size(), false), isNeeded(group.dims.size(), false);
  for (size_t r = 0; r < results; ++r) {
    isGiven[group.yielded[r]] = isGiven[group.yielded[r]] || given[r];
    isNeeded[group.yielded[r]] = isNeeded[group.yielded[r]] || (needed[r] && !given[r]);
  }
  for (size_t i = group.ops.size(); i-- > 0;) {
    const std::vector<int> &made = group.ops[i].results;
    auto isOpen = [&](int value) { return isNeeded[value] && !isGiven[value]; };
    if (std::any_of(made.begin(), made.end(), isOpen))
      for (int value : group.ops[i].operands)
        isNeeded[value] = true;
  }
  GroupPart part;
  for (size_t r = 0; r < results; ++r) {
    part.results.push_back(needed[r] && !given[r]);
    part.reads.push_back(given[r] && isNeeded[group.yielded[r]]);
  }
  for (size_t k = 0; k < operands; ++k)
    part.operands.push_back(isNeeded[group.arguments[k]]);
  return part;
}

// The op and the choice, without the operands and results that are not part of it.
static std::pair<Op, OpChoice> restricted(const Op &op, const OpChoice &choice,
                                          const GroupPart &part) {
  Op small;
  OpChoice its{.factors = choice.factors, .partial = choice.partial};
  small.rule = op.rule;
  small.group = std::make_shared<Group>(); // which masks inside its kernel
  small.repeats = op.repeats;
  small.hasKernel = op.hasKernel;
  small.isAccumulate = op.isAccumulate;
  for (size_t k = 0; k < op.operands.size(); ++k)
    if (part.operands[k]) {
      if (op.readsSparsely(static_cast<int>(k)))
        small.sparseOperands.push_back(static_cast<int>(small.operands.size()));
      small.operands.push_back(op.operands[k]);
      its.operands.push_back(choice.operands[k]);
    }
  for (size_t r = 0; r < op.results.size(); ++r) {
    if (part.reads[r]) {
      small.operands.push_back(op.results[r]);
      its.operands.push_back(choice.natural[r]);
    } else if (part.results[r]) {
      small.results.push_back(op.results[r]);
      its.natural.push_back(choice.natural[r]);
      its.results.push_back(choice.results[r]);
    }
  }
  return {std::move(small), std::move(its)};
}

bool isWhole(const GroupPart &part) {
  auto all = [](const std::vector<bool> &flags) {
    return std::find(flags.begin(), flags.end(), false) == flags.end();
  };
  return all(part.results) && all(part.operands);
}

// The seconds of a layout change, whose reduction may be joined with others.
static double leastChange(Costs &costs, int value, const Sharding &from, const Sharding &to) {
  const double alone = costs.reshard(value, from, to);
  const auto steps = from == to ? std::nullopt : costs.path(value, from, to);
  if (!steps || steps->size() != 1 || (*steps)[0].collective != CollectiveKind::AllReduce)
    return alone;
  const double largest = static_cast<double>(kBucketBytes), bytes = (*steps)[0].bytes;
  return bytes < largest
             ? std::min(alone, costs.allReduce((*steps)[0].axes, largest) * bytes / largest)
             : alone;
}

double secondsOfPart(Costs &costs, const Op &op, const OpChoice &choice, const GroupPart &part) {
  auto [small, its] = restricted(op, choice, part);
  if (small.results.empty())
    return 0;
  double seconds = isWhole(part) ? costs.kernels(op, choice) : costs.kernels(small, its);
  for (size_t r = 0; r < small.results.size(); ++r)
    seconds += static_cast<double>(op.completions()) *
               leastChange(costs, small.results[r], its.natural[r], its.results[r]);
  return seconds;
}

} // namespace cleave::planner
