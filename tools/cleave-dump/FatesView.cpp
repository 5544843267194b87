// --fates: values that are kept for the backward pass, and values that are computed again there.
#include "tools/cleave-dump/FateTables.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

namespace cleave::dump {

std::string fatesView(const plan::Plan &plan) {
  const std::string again = fateTable(plan, "recompute"), kept = fateTable(plan, "kept");
  if (again.empty() && kept.empty())
    return "No fates: nothing of the forward pass is read in a backward pass.\n";
  return titled("What the backward pass reads of the forward pass (rank 0)") + "\n" + again +
         (again.empty() || kept.empty() ? "" : "\n") + kept;
}

} // namespace cleave::dump
