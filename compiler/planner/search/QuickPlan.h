// QuickPlan: what a step takes at least, and what a few plans of it take that are found without a
// search for memory: the fastest ones that keep everything and that recompute what the recipe
// full-recompute does, each free and, unless the user pins layouts, as zero3. A fraction of the
// effort of searchPlan, whose plans are as good or better.
#pragma once

#include "compiler/planner/search/PlannedStep.h"

#include <string>
#include <vector>

namespace cleave::planner {

// One plan.
struct QuickPoint {
  double seconds = 0; // per step
  int64_t bytes = 0;  // of one rank
  std::string mesh;   // Mesh::str()
  std::string pin;    // the recipes that it follows beside the user's pins; may be empty
};

// Results of quickPlan().
struct QuickPlan {
  // No plan that keeps everything takes less, however much memory there is.
  double boundSeconds = 0;
  std::vector<QuickPoint> points; // at least one; the first is the fastest that keeps everything

  // The fastest one within the budget, or null.
  const QuickPoint *within(const Budget &budget) const;
  // The one with the fewest bytes.
  const QuickPoint &smallest() const;
};

// Plans may exceed the budget; if the first one fits, no other one is made. Errors as of
// planWithPolicy and pinnedRemat.
Result<QuickPlan> quickPlan(const Step &step, const cluster::Cluster &cluster,
                            PlannerOptions options);

} // namespace cleave::planner
