// PlanMemory: remembers the plans and refusals of searches that differ in the budget of device
// memory alone, and answers further budgets from them.
//
// A plan answers every budget from its own bytes up to the budget of its search, because less
// memory permits no faster plan. A refusal answers every smaller budget.
#pragma once

#include "compiler/planner/report/PlanReport.h"
#include "runtime/base/Status.h"

#include <optional>
#include <vector>

namespace cleave::planner {

class PlanMemory {
public:
  // The best known plan within the budget, or the known refusal of it; none if the budget has to be
  // searched.
  std::optional<Result<PlanReport>> within(const Budget &budget) const;
  // Remembers the result of a search within the budget. Failures other than refusals for want of
  // memory are ignored.
  void add(const Budget &budget, const Result<PlanReport> &found);

private:
  struct Entry {
    Budget budget;
    Result<PlanReport> found;
  };
  std::vector<Entry> entries_;
};

} // namespace cleave::planner
