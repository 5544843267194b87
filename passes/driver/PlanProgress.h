// PlanProgress: the progress of the search for a plan, as a line.
#pragma once

#include "compiler/planner/search/PlannerOptions.h"
#include "passes/driver/Compile.h"

#include <limits>
#include <optional>
#include <string>

namespace cleave::driver {

class PlanProgress {
public:
  // `name`: the unit that is planned, such as `stage 3`; may be empty. `budget`: the memory budget
  // of the search.
  PlanProgress(std::string name, const planner::Budget &budget)
      : name_(std::move(name)), budget_(budget) {}

  void add(const planner::PlanReport &plan);
  // `planning stage 3: 14 plans tried, the fastest that fits takes 6.62 s`.
  std::string text() const;

private:
  std::string name_;
  planner::Budget budget_;
  int64_t tried_ = 0;
  std::optional<double> fastest_;                       // seconds per step, of those that fit
  int64_t least_ = std::numeric_limits<int64_t>::max(); // bytes of the smallest program
};

// Lets the search with these options show its progress (Compilation::onProgress).
void showProgress(const Compilation &c, const std::string &name, planner::PlannerOptions &options);

} // namespace cleave::driver
