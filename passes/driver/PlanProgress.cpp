#include "passes/driver/PlanProgress.h"

#include "runtime/base/Units.h"

#include <algorithm>
#include <memory>

namespace cleave::driver {

void PlanProgress::add(const planner::PlanReport &plan) {
  ++tried_;
  least_ = std::min(least_, plan.arenaBytes);
  if (budget_.holds(plan.arenaBytes))
    fastest_ = std::min(fastest_.value_or(plan.seconds), plan.seconds);
}

std::string PlanProgress::text() const {
  const std::string what = name_.empty() ? "planning" : "planning " + name_;
  if (tried_ == 0)
    return what;
  const std::string tried =
      concat(what, ": ", tried_, tried_ == 1 ? " plan" : " plans", " tried, ");
  return fastest_ ? concat(tried, "the fastest that fits takes ", secondsText(*fastest_))
                  : concat(tried, "none fits yet, the smallest takes ", bytesText(least_), " of ",
                           bytesText(budget_.bytes()));
}

void showProgress(const Compilation &c, const std::string &name, planner::PlannerOptions &options) {
  if (!c.onProgress)
    return;
  auto progress = std::make_shared<PlanProgress>(name, options.budget);
  c.onProgress(progress->text());
  options.onPlan = [progress, show = c.onProgress](const planner::PlanReport &plan) {
    progress->add(plan);
    show(progress->text());
  };
}

} // namespace cleave::driver
