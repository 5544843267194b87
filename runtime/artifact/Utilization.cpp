// See Utilization.h.
#include "runtime/artifact/Utilization.h"

#include "runtime/artifact/Mesh.h"

#include <algorithm>
#include <cstdio>

namespace cleave::artifact {

double utilizationOf(const plan::Plan &plan, double seconds) {
  const double available = seconds * rankCount(plan);
  return available > 0 ? plan.predicted().peak_seconds() / available : 0;
}

std::string utilizationText(double utilization) {
  const double percent = 100 * utilization;
  if (!(percent >= 0.1))
    return "";
  char text[32];
  std::snprintf(text, sizeof text, "MFU %.*f %%", percent < 0.995 ? 2 : 1, percent);
  return text;
}

} // namespace cleave::artifact
