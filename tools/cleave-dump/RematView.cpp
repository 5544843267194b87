// --recompute: values that are kept for the backward pass, and values that are recomputed there.
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/RematTables.h"
#include "tools/cleave-dump/Views.h"

namespace cleave::dump {

std::string rematView(const plan::Plan &plan) {
  const std::string recomputed = rematTable(plan, "recompute"), kept = rematTable(plan, "kept");
  if (recomputed.empty() && kept.empty())
    return "Nothing is kept or recomputed: no backward pass reads a value of the forward pass.\n";
  return titled("What the backward pass reads of the forward pass (rank 0)") + "\n" + recomputed +
         (recomputed.empty() || kept.empty() ? "" : "\n") + kept;
}

} // namespace cleave::dump
