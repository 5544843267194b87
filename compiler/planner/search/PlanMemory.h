// PlanMemory: what searches of plans within some budgets say about others, if nothing but the budget
// of device memory differs between them.
//
// A plan answers for every budget from its own bytes up to the one that it was searched in: no plan
// within less is faster than the best within more. A refusal answers for every smaller budget.
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
