// PlanMemory: remembers the plans and refusals of searches that differ in the budget of device
// memory alone, and answers further budgets from them.
//
// A plan answers every budget from its own bytes up to the budget of its search, because less
// memory permits no faster plan. A refusal answers every smaller budget.
#pragma once

#include "compiler/planner/report/PlanReport.h"
#include "runtime/base/Status.h"

#include <memory>
#include <optional>
#include <vector>

namespace cleave::planner {

class PlanMemory {
public:
  // What is known of the plan within the budget: the plan, why there is none, or nothing.
  std::optional<Result<PlanReport>> within(const Budget &budget) const;
  // Adds what a search within the budget has found. Failures other than that nothing fits are not
  // remembered.
  void add(const Budget &budget, const Result<PlanReport> &found);

private:
  struct Entry {
    Budget budget;
    Result<PlanReport> found;
  };
  std::vector<Entry> entries_;
};

} // namespace cleave::planner
